"""Remove from the installed packages what no program runs, for a smaller image: test suites, C++ headers, source maps.

    python deploy/slim.py

is for an image alone: it changes the environment that it runs in.
"""

import shutil
import sys
import sysconfig
from pathlib import Path

# Test suites of all packages, and what it takes to build others upon torch and pyarrow.
FOLDERS = ("**/tests", "torch/test", "torch/include", "pyarrow/include")
FILES = ("**/*.map", "**/*.pyi", "**/*.pxd", "torch/bin/*")
# Without it, torch cannot be imported.
KEPT = {"torch_shm_manager"}


def main() -> None:
    """Remove it, and say how much that was."""
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
