"""Starts the encoder child; run by its path, with what `child.main` takes.

`rhapsode_worker` imports a server, pydantic and more, of which a child needs nothing: they would
make it five times slower to start and twice as large. So it gets a package of that name in which
only the submodules can be found.
"""

import sys
from pathlib import Path
from types import ModuleType

_package = ModuleType("rhapsode_worker")
_package.__path__ = [str(Path(__file__).parents[1])]
sys.modules["rhapsode_worker"] = _package

from rhapsode_worker.encoding.child import main  # noqa: E402  # the package stands above

sys.exit(main())
