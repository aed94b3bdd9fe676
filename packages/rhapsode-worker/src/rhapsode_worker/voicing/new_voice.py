"""A voice as a caller asks for it, checked and not yet made."""

import re
from dataclasses import dataclass
from typing import Final

from rhapsode_contract import BadRequest, check_voice_id

from rhapsode_worker.voicing.recipe import Recipe
from rhapsode_worker.voicing.staging import Staged

LABEL_LIMIT_CHARACTERS: Final = 200

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_BUT_SPACE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class NewVoice:
    """A voice to be made from a reference or from a blend, whichever is not None."""

    id: str

    label: str
    """As the caller has it, else the id."""

    transcript: str | None = None
    """The words spoken in the reference, where the caller gave them."""

    reference: Staged | None = None
    """On disk; gone once the create has been answered, unless it was moved."""

    blend: Recipe | None = None

    @classmethod
    def from_fields(cls, fields: dict[str, str], reference: Staged | None) -> "NewVoice":
        """Checks what a form said.

        Args:
            fields: Of text, by name: `id`, `label`, `transcript`, `blend`. A blank one counts as
                not given, since that is what a form sends for a field that nobody filled in.
            reference: The file that came, if one did.

        Raises:
            BadRequest: A field is missing or wrong, or there are both sources or neither.
        """
        given = {name: text for name, value in fields.items() if (text := value.strip())}
        if "id" not in given:
            raise BadRequest("id: required", field="id")
        voice_id = check_voice_id(fields["id"], field="id")
        if (reference is None) == ("blend" not in given):
            raise sources_refused("neither came" if reference is None else "both came")
        label = given.get("label", voice_id)
        if len(label) > LABEL_LIMIT_CHARACTERS or _CONTROL.search(label):
            raise BadRequest(
                f"label: one line of {LABEL_LIMIT_CHARACTERS} characters at most", field="label"
            )
        transcript = given.get("transcript")
        if transcript is not None and _CONTROL_BUT_SPACE.search(transcript):
            raise BadRequest("transcript: holds control characters", field="transcript")
        blend = Recipe.parse(given["blend"]) if "blend" in given else None
        return cls(voice_id, label, transcript, reference, blend)


def sources_refused(which: str) -> BadRequest:
    """Returns the refusal of a create that has not exactly one source."""
    return BadRequest(
        f"reference: a voice is made from a reference or from a blend, and {which}",
        field="reference",
    )
