"""Style vectors in the files that callers send, and a voice made of one."""

import io
import zipfile
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_worker import NewVoice
from rhapsode_worker.voicing.staging import Staging

STORAGES: Final = {
    "float16": b"HalfStorage",
    "bfloat16": b"BFloat16Storage",
    "float32": b"FloatStorage",
}
"""torch's names of kinds of numbers."""


def npy(array: object) -> bytes:
    """Returns what `numpy.save` writes."""
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def pt(array: NDArray[np.float32], kind: str = "float32") -> bytes:
    """Returns what `torch.save` writes of a tensor of three dimensions, by hand.

    Args:
        array: Its numbers.
        kind: One of `STORAGES`.
    """
    rows, columns, width = array.shape
    sizes = b"".join(map(_number, (rows, columns, width)))
    steps = b"".join(map(_number, (columns * width, width, 1)))
    pickled = (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n"
        + STORAGES[kind]
        + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
        + _number(array.size)
        + b"tQ"
        + _number(0)
        + b"("
        + sizes
        + b"t("
        + steps
        + b"t\x89ccollections\nOrderedDict\n)RtR."
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("voice/data.pkl", pickled)
        archive.writestr("voice/data/0", _stored(array, kind))
    return file.getvalue()


def create(engine: KokoroEngine, voice_id: str, contents: bytes, kind: str = "npy") -> None:
    """Makes a voice of a file's contents, as an upload does."""
    with Staging(engine.voice_dir).stage(kind) as staged:
        staged.write(contents)
        engine.create_voice(NewVoice(voice_id, voice_id.title(), reference=staged))


def _number(value: int) -> bytes:
    return b"J" + value.to_bytes(4, "little")


def _stored(array: NDArray[np.float32], kind: str) -> bytes:
    if kind == "bfloat16":  # the upper half of a single
        return (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return array.astype(np.dtype(kind).newbyteorder("<")).tobytes()
