"""The network, in onnxruntime."""
# onnxruntime's types are incomplete.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from rhapsode_worker.loudness import Audio

from rhapsode_engine_kokoro.alphabet import numbers_of
from rhapsode_engine_kokoro.styles import Styles, style_for

SAMPLE_RATE_HZ: Final = 24_000

_FRAME: Final = 0
"""Stands before and after the phonemes."""

_LOOK_SECONDS: Final = 0.05
"""How often a run asks whether anybody still listens."""

_TYPES: Final = {
    "tensor(int64)": np.int64,
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}


class Stopped(Exception):
    """Nobody listens any more, and the run was ended."""


class Graph:
    """One build of the model, resident."""

    def __init__(self, path: Path) -> None:
        """Loads it.

        Raises:
            ValueError: It is another graph: an input that it wants is none of Kokoro's.
        """
        self._session = onnxruntime.InferenceSession(
            path, _options(), providers=["CPUExecutionProvider"]
        )
        self._types: dict[str, type[np.generic] | None] = {
            each.name: _TYPES.get(each.type) for each in self._session.get_inputs()
        }
        # Exports differ in what they call the phonemes.
        names = self._types.keys() - {"style", "speed"}
        if names not in ({"tokens"}, {"input_ids"}) or None in self._types.values():
            raise ValueError(f"{path.name} takes {self._types}, which is not what Kokoro takes")
        self._phonemes_name = names.pop()

    def synthesise(
        self, phonemes: str, styles: Styles, speed: float, is_abandoned: Callable[[], bool]
    ) -> Audio:
        """Returns the speech of `phonemes`, with the silences that the network puts around it.

        Args:
            phonemes: At most `alphabet.LONGEST`.
            styles: The voice.
            speed: 0.5 is half as fast as 1.
            is_abandoned: Asked on another thread all the while.

        Raises:
            Stopped: It has become true, and the network was stopped in the middle.
        """
        numbers = numbers_of(phonemes)
        audio = self._run(
            {
                self._phonemes_name: self._input(self._phonemes_name, [[_FRAME, *numbers, _FRAME]]),
                "style": self._input("style", [style_for(styles, len(numbers))]),
                "speed": self._input("speed", [speed]),
            },
            is_abandoned,
        )
        return np.asarray(audio, dtype=np.float32).reshape(-1)

    def _input(self, name: str, values: object) -> NDArray[Any]:
        return np.asarray(values, dtype=self._types[name])

    def _run(self, inputs: dict[str, NDArray[Any]], is_abandoned: Callable[[], bool]) -> Any:
        """Returns the first output, unless the run was ended before there was one."""
        options = onnxruntime.RunOptions()
        is_over = threading.Event()

        def watch() -> None:
            while not is_over.wait(_LOOK_SECONDS):
                if is_abandoned():
                    options.terminate = True
                    return

        watcher = threading.Thread(target=watch, name="kokoro-watch", daemon=True)
        watcher.start()
        try:
            return self._session.run(None, inputs, options)[0]
        except Exception as error:  # onnxruntime has no class for it
            if options.terminate:
                raise Stopped from error
            raise
        finally:
            is_over.set()
            watcher.join()


def _options() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _cores()
    options.inter_op_num_threads = 1
    # A plan of the memory is kept for each length of a text, and hardly two are as long: without
    # any a run takes 2 to 4 % less (2 cores, int8).
    options.enable_mem_pattern = False
    # Threads that spin between two runs would take the cores from everything else on the machine;
    # never to spin would cost a run 6 % (2 cores, int8).
    options.add_session_config_entry("session.force_spinning_stop", "1")
    # A sound that dies away passes through numbers so small that the processor is slow with them.
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    return options


def _cores() -> int:
    """Returns how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1
