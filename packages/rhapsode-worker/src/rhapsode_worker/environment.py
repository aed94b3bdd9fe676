"""What the core tells a worker at its start (contract § 2), and what a person may leave out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from rhapsode_contract import CONTRACT, is_engine_id
from rhapsode_http import Address, is_loopback, parse_address


class HopelessStart(Exception):
    """This start cannot succeed, nor can another one in the same environment."""


@dataclass(frozen=True)
class WorkerEnvironment:
    """The variables a worker reads. With none of them it serves on a free loopback port."""

    listen: Address
    """`RHAPSODE_WORKER_LISTEN`."""

    engine: str | None
    """`RHAPSODE_WORKER_ENGINE`: who the core thinks this is."""

    offer: int
    """`RHAPSODE_WORKER_CONTRACT`: the highest contract that the core speaks."""

    voice_dir: Path | None
    """`RHAPSODE_VOICE_DIR`: the folder of this engine's voices."""

    weights_dir: Path | None
    """`RHAPSODE_WEIGHTS_DIR`: the folder of this engine's weights."""

    token: str | None
    """`RHAPSODE_WORKER_TOKEN`: what callers show a worker that listens on a network."""

    is_open: bool
    """`RHAPSODE_WORKER_OPEN=1`: the network is trusted, and no token is wanted."""

    has_lifeline: bool
    """`RHAPSODE_WORKER_LIFELINE=stdin`: standard input ends when the core does."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "WorkerEnvironment":
        """Reads the variables.

        Raises:
            HopelessStart: One of them makes no sense; the message names it.
        """
        offer = environ.get("RHAPSODE_WORKER_CONTRACT", str(CONTRACT))
        if not re.fullmatch(r"[0-9]{1,9}", offer):
            raise HopelessStart(f"RHAPSODE_WORKER_CONTRACT is {offer!r}, not a whole number")
        try:
            listen = parse_address(environ.get("RHAPSODE_WORKER_LISTEN", "tcp:127.0.0.1:0"))
        except ValueError as error:
            raise HopelessStart(f"RHAPSODE_WORKER_LISTEN: {error}") from None
        lifeline = environ.get("RHAPSODE_WORKER_LIFELINE", "")
        if lifeline not in {"", "stdin"}:
            raise HopelessStart(f"RHAPSODE_WORKER_LIFELINE is {lifeline!r}; only stdin is known")
        voice_dir, weights_dir = (
            environ.get("RHAPSODE_VOICE_DIR"),
            environ.get("RHAPSODE_WEIGHTS_DIR"),
        )
        return cls(
            listen=listen,
            engine=environ.get("RHAPSODE_WORKER_ENGINE") or None,
            offer=int(offer),
            voice_dir=Path(voice_dir) if voice_dir else None,
            weights_dir=Path(weights_dir) if weights_dir else None,
            token=environ.get("RHAPSODE_WORKER_TOKEN") or None,
            is_open=environ.get("RHAPSODE_WORKER_OPEN") == "1",
            has_lifeline=lifeline == "stdin",
        )

    def voice_dir_for(self, engine_id: str) -> Path:
        """Returns the folder of the engine's voices: the one told, else one of the user's."""
        if self.voice_dir is not None:
            return self.voice_dir
        return platformdirs.user_data_path("rhapsode") / "voices" / engine_id.replace(":", "_")

    def weights_dir_for(self, engine_id: str) -> Path:
        """Returns the folder of the engine's weights: the one told, else one of the user's."""
        if self.weights_dir is not None:
            return self.weights_dir
        return platformdirs.user_data_path("rhapsode") / "weights" / engine_id.replace(":", "_")

    def check_network(self) -> None:
        """Refuses to be open to a network by accident (design, "A worker on the network").

        Raises:
            HopelessStart: It listens beyond loopback, and neither a token nor trust is given.
        """
        if is_loopback(self.listen) or self.token is not None or self.is_open:
            return
        raise HopelessStart(
            f"{self.listen} is open to the network: set RHAPSODE_WORKER_TOKEN, or"
            " RHAPSODE_WORKER_OPEN=1 where everybody on it may make this worker speak"
        )

    def check_engine(self, engine_id: str) -> None:
        """Holds the adapter's id against the one that was asked for.

        Raises:
            HopelessStart: It is no id, or another engine was asked for.
        """
        if not engine_id:
            raise HopelessStart("the adapter declares no id")
        if not is_engine_id(engine_id):
            raise HopelessStart(f"{engine_id!r} is no engine id: letters, digits, . _ : and -")
        if self.engine not in {None, engine_id}:
            raise HopelessStart(
                f"RHAPSODE_WORKER_ENGINE asks for {self.engine!r}, but this is {engine_id!r}"
            )
