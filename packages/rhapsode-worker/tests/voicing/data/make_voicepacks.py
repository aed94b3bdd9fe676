"""Made the `.pt` and `.npy` files beside this, once, with torch 2.13.0 and numpy 2.4.6.

    python make_voicepacks.py

Neither library is needed to run the tests. Every array holds `index / 8` in its own order, which
all of the number formats here hold exactly.
"""

from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent


def main() -> None:
    """Writes every file."""
    plain = torch.arange(24, dtype=torch.float32).div(8).reshape(4, 1, 6)
    torch.save(plain, HERE / "float32.pt")
    torch.save(plain.half(), HERE / "float16.pt")
    torch.save(plain.double(), HERE / "float64.pt")
    torch.save(plain.bfloat16(), HERE / "bfloat16.pt")
    torch.save(plain.permute(2, 1, 0), HERE / "permuted.pt")
    torch.save(torch.arange(40, dtype=torch.float32).div(8)[8:32].reshape(4, 1, 6), HERE / "view.pt")
    torch.save(torch.tensor([0.5]).expand(3, 2), HERE / "expanded.pt")
    torch.save(torch.tensor(0.5), HERE / "scalar.pt")
    torch.save(plain.clone().requires_grad_(), HERE / "grown.pt")
    torch.save(plain, HERE / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(plain, HERE / "protocol4.pt", pickle_protocol=4)
    torch.save({"voice": plain}, HERE / "dictionary.pt")
    torch.save([plain, plain], HERE / "list.pt")
    torch.save(plain.long(), HERE / "int64.pt")
    torch.save(torch.nn.Parameter(plain), HERE / "parameter.pt")
    torch.save(torch.nn.Linear(2, 2), HERE / "module.pt")
    torch.save(plain.to_sparse(), HERE / "sparse.pt")
    torch.jit.save(torch.jit.script(torch.nn.ReLU()), HERE / "script.pt")

    array = plain.numpy()
    for kind in ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8"):
        name = kind.replace("<", "little_").replace(">", "big_")
        np.save(HERE / f"{name}.npy", array.astype(kind))
    np.save(HERE / "fortran.npy", np.asfortranarray(array))
    np.save(HERE / "int32.npy", array.astype("<i4"))
    np.save(HERE / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(HERE / "zero_dimensions.npy", np.float32(0.5))
    for version in ((2, 0), (3, 0)):
        with (HERE / f"version{version[0]}.npy").open("wb") as file:
            np.lib.format.write_array(file, array, version=version)


if __name__ == "__main__":
    main()
