"""How this process allocates memory, and when it returns it to the system."""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["give_back_arrays"]

# mallopt(3) of glibc: the number of M_MMAP_THRESHOLD, and the variable with which an owner may set it.
_PARAMETER, VARIABLE = -3, "MALLOC_MMAP_THRESHOLD_"
# The arrays of one sentence are smaller, and are allocated as fast as before.
THRESHOLD = 256 * 1024


def give_back_arrays() -> bool:
    """Return large arrays to the system as soon as they are freed; tell whether this system needs that.

    glibc allocates each block above a threshold separately, and returns it to the system at once when it is freed. But
    whenever a larger block is freed, it raises that threshold, up to 32 MiB. From then on the arrays of long texts lie
    among small blocks, in a heap for each thread, and are never returned: after eight texts, 800 MiB were allocated and
    unused. A threshold that was set explicitly is not raised.
    """
    if VARIABLE in os.environ or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_PARAMETER, THRESHOLD))
