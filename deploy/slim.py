"""Remove unused files (test suites, C++ headers, source maps) from the installed packages, for a smaller image.

    python deploy/slim.py

Only for images: it changes the environment that it runs in.
"""

import shutil
import sys
import sysconfig
from pathlib import Path

# Test suites, and headers for building other packages.
FOLDERS = ("**/tests", "torch/test", "torch/include", "pyarrow/include")
FILES = ("**/*.map", "**/*.pyi", "**/*.pxd", "torch/bin/*")
# Required to import torch.
KEPT = {"torch_shm_manager"}


def main() -> None:
    """Remove the files, and report their size."""
    packages = Path(sysconfig.get_paths()["platlib"])
    before = size(packages)
    for pattern in FOLDERS:
        for folder in packages.glob(pattern):
            shutil.rmtree(folder, ignore_errors=True)
    for pattern in FILES:
        for file in packages.glob(pattern):
            if file.name not in KEPT and file.is_file():
                file.unlink()
    sys.stdout.write(f"{(before - size(packages)) / 1e6:,.0f} MB removed\n")


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


if __name__ == "__main__":
    main()
