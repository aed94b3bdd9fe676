"""What a job says of the error it failed with."""

import logging

from rhapsode_contract import ErrorBody, ErrorDetail, ForeignError, Internal, RhapsodeError

logger = logging.getLogger(__name__)


def failure_detail(failure: Exception) -> ErrorDetail:
    """Returns an error as a job carries it; logs one that nobody foresaw."""
    if isinstance(failure, RhapsodeError | ForeignError):
        return ErrorBody.of(failure).error
    if isinstance(failure, OSError):
        # A full disk, a folder that is not ours: the operator's to see, and it names the path.
        return ErrorBody.of(Internal(str(failure))).error
    logger.error("a job failed unexpectedly", exc_info=failure)
    message = f"an unexpected {type(failure).__name__}; the server's log has the details"
    return ErrorBody.of(Internal(message)).error
