"""How this process asks the system for memory, and when it gives it back."""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["give_back_arrays"]

# mallopt(3) of glibc: M_MMAP_THRESHOLD, its number and the variable by which an owner may set it.
_PARAMETER, VARIABLE = -3, "MALLOC_MMAP_THRESHOLD_"
# One sentence's arrays are smaller, and as quick as ever.
THRESHOLD = 256 * 1024


def give_back_arrays() -> bool:
    """Let large arrays go back to the system as soon as nobody has them; tell whether this system needs that.

    glibc asks the system for each block above a threshold by itself, and gives it back at once. But it raises that
    threshold, up to 32 MiB, whenever a larger block is freed. From then on the arrays of long texts lie among small
    blocks, in a heap for each thread, and stay there: after eight texts, 800 MiB that nobody used. A threshold that
    was set stays where it is.
    """
    if VARIABLE in os.environ or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_PARAMETER, THRESHOLD))
