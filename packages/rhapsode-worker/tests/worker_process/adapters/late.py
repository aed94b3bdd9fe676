"""An adapter that is told to stop once more while its process leaves."""

import logging
import os
import signal

from rhapsode_engine_tone import ToneEngine
from rhapsode_worker import serve


class LateSignal(logging.NullHandler):
    """Flushed in the last moments of a worker, by `logging.shutdown`."""

    def flush(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


LATE = LateSignal()

if __name__ == "__main__":
    serve(ToneEngine())
