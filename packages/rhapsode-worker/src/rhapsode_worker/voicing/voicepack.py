"""torch's `.pt` with one tensor in it, read as data: a voicepack as Kokoro-FastAPI ships them."""

import io
import struct
import zipfile
from typing import Final

from rhapsode_contract.quoting import shown

from rhapsode_worker.voicing.tensor import FLOAT_BYTES, VALUES_LIMIT, Tensor, decode, gather, refuse
from rhapsode_worker.voicing.tensor_pickle import Storage, read_tensor_pickle

_ENTRIES_LIMIT: Final = 64
"""A tensor's archive has seven."""

_ENTRY_MARK: Final = b"PK\x01\x02"
"""Begins each entry of a zip archive's directory."""

_FIRST_MARK: Final = b"PK\x03\x04"
"""Begins a zip archive's first file."""

_LEGACY_MARK: Final = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
"""What torch before 1.6 wrote first: its own number, pickled."""

_MALFORMED: Final = (
    zipfile.BadZipFile,
    ArithmeticError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,  # an encrypted entry, or a feature that zipfile lacks
    ValueError,
    struct.error,
)
"""What `zipfile` raises over an archive that somebody has written on purpose."""


def read_voicepack(data: bytes) -> Tensor:
    """Reads the tensor that `torch.save` wrote. Nothing in the file is run.

    Raises:
        BadRequest: The file is something else, or holds something else than one tensor of
            floating-point numbers.
    """
    archive = _Archive(data)
    stored = read_tensor_pickle(archive.read("data.pkl"))
    numbers = archive.read_storage(stored.storage)
    values = decode(numbers, stored.storage.kind, is_little_endian=archive.is_little_endian())
    return gather(values, stored.shape, stored.strides, stored.offset)


class _Archive:
    """A zip archive as torch writes them: one folder, nothing compressed."""

    def __init__(self, data: bytes) -> None:
        _refuse_other_formats(data)
        self._data_bytes = len(data)
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except _MALFORMED:
            refuse("is no .pt archive")
        self._entries = {entry.filename: entry for entry in self._archive.infolist()}
        if len(self._entries) != len(self._archive.infolist()):
            refuse("has two entries of one name")
        pickles = [name for name in self._entries if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            refuse("is no .pt archive: one data.pkl is wanted in it")
        self._folder = pickles[0].removesuffix("data.pkl")
        if f"{self._folder}constants.pkl" in self._entries:
            refuse("is a TorchScript program; a tensor is wanted")

    def is_little_endian(self) -> bool:
        """Returns how the numbers are ordered; older archives do not say, and are little."""
        if f"{self._folder}byteorder" not in self._entries:
            return True
        return self.read("byteorder") != b"big"

    def read_storage(self, storage: Storage) -> bytes:
        """Returns the bytes of a storage, as many as its numbers take."""
        if storage.count > VALUES_LIMIT:
            refuse(f"declares {storage.count:,} numbers; {VALUES_LIMIT:,} are the most")
        numbers = self.read(f"data/{storage.key}")
        if len(numbers) != storage.count * FLOAT_BYTES[storage.kind]:
            refuse(f"should hold {storage.count:,} numbers, and holds {len(numbers):,} bytes")
        return numbers

    def read(self, name: str) -> bytes:
        """Returns what an entry of torch's folder holds."""
        entry = self._entries.get(self._folder + name)
        if entry is None:
            refuse(f"has no entry {shown(name)}")
        # Nothing compressed, so nothing in it is larger than the file that came.
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > self._data_bytes:
            refuse("is compressed inside, which torch.save never does")
        try:
            return self._archive.read(entry)
        except _MALFORMED:
            refuse("is a damaged .pt archive")


def _refuse_other_formats(data: bytes) -> None:
    if data.startswith(_LEGACY_MARK):
        refuse("is in torch's format from before 1.6; load it in torch, and save it again")
    if data[257:262] == b"ustar":
        refuse("is in torch's oldest format, a tar archive; load it in torch, and save it again")
    # zipfile finds an archive behind anything; behind a pickle, other readers find the pickle.
    if not data.startswith(_FIRST_MARK):
        refuse("is no .pt archive")
    # Counted before zipfile makes an object of each.
    if data.count(_ENTRY_MARK) > _ENTRIES_LIMIT:
        refuse("has more entries than a tensor's archive")
