"""A file at a fixed address, such as one of a release page."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from rhapsode_worker.weights.download import Download
from rhapsode_worker.weights.source import Errand


@dataclass(frozen=True)
class ReleaseFile:
    """A file behind an `http:` or `https:` URL.

    Raises:
        ValueError: The URL is of another kind.
    """

    url: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"{self.url!r} is no http or https URL")

    def bring(self, errand: Errand) -> bool:
        """See `Source.bring`."""
        return Download(self.url, errand).run()

    def __str__(self) -> str:
        # Without a query or a name and password: they may hold a secret.
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
