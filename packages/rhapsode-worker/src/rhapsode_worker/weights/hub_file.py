"""A file of a repository on a model hub."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from rhapsode_worker.weights.download import Download
from rhapsode_worker.weights.source import Errand, SourceFailed

_ENDPOINT: Final = "https://huggingface.co"

_TRUE: Final = frozenset({"1", "ON", "YES", "TRUE"})


@dataclass(frozen=True)
class HubFile:
    """A file of a hub that speaks Hugging Face's `resolve` URLs.

    Its usual variables count: `HF_ENDPOINT` for a mirror, `HF_TOKEN` for gated repositories,
    `HF_HUB_OFFLINE` to leave the hub alone.
    """

    repo: str
    """`owner/name`."""

    revision: str
    """A commit, which stays what it is; a branch or a tag may move on."""

    path: str
    """The file in the repository."""

    def bring(self, errand: Errand) -> bool:
        """See `Source.bring`."""
        if errand.environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE:
            raise SourceFailed("HF_HUB_OFFLINE is set")
        endpoint = errand.environ.get("HF_ENDPOINT", "").rstrip("/") or _ENDPOINT
        if urlsplit(endpoint).scheme not in {"http", "https"}:
            raise SourceFailed(f"HF_ENDPOINT is {endpoint!r}, no http or https URL")
        token = errand.environ.get("HF_TOKEN", "").strip() or None
        return Download(self.url_at(endpoint), errand, token=token).run()

    def url_at(self, endpoint: str) -> str:
        """Returns the file's URL on a hub."""
        revision = quote(self.revision, safe="")
        return f"{endpoint}/{quote(self.repo)}/resolve/{revision}/{quote(self.path)}"

    def __str__(self) -> str:
        return f"hub {self.repo}@{self.revision}/{self.path}"
