"""Whether a weights licence was accepted by whoever has to (contract § 10, "Accepting …")."""

from urllib.parse import quote

from rhapsode_contract import BadRequest, License
from rhapsode_contract.quoting import shown


def is_acceptance_due(licence: License, recorded: str | None) -> bool:
    """Says whether an engine can be built only once somebody accepts its weights licence.

    Args:
        licence: The catalog's.
        recorded: The licence that was accepted at the last install, or None.
    """
    return not licence.weights_commercial_use and recorded != licence.weights


def accepted_licence(
    engine: str, licence: License, accept: str | None, recorded: str | None = None
) -> str | None:
    """Returns the licence to record as accepted; None where the weights need none accepted.

    Args:
        engine: What is to be built.
        licence: The catalog's.
        accept: The licence that the caller accepts, as they wrote it.
        recorded: The licence that was accepted at the last install, or None.

    Raises:
        BadRequest: The caller has to accept the licence, or accepts another one.
    """
    if accept is not None and accept != licence.weights:
        raise BadRequest(
            f"accept: {shown(accept)} is not the licence of the weights of {engine};"
            f" {_how_to(licence)}",
            field="accept",
        )
    if accept is None and is_acceptance_due(licence, recorded):
        raise BadRequest(
            f"accept: the weights of {engine} are under {licence.weights}, which does not allow"
            f" commercial use; {_how_to(licence)}",
            field="accept",
        )
    return None if licence.weights_commercial_use else licence.weights


def _how_to(licence: License) -> str:
    return f"?accept={quote(licence.weights, safe='')} accepts {licence.weights}"
