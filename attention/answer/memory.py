"""When this process returns memory to the system."""

from __future__ import annotations

import ctypes
import os
import sys

# glibc's mallopt(3): the number of M_MMAP_THRESHOLD, and the environment variable that sets it.
_PARAMETER, VARIABLE = -3, "MALLOC_MMAP_THRESHOLD_"
# The arrays of one sentence are smaller, and are allocated as fast as before.
THRESHOLD = 256 * 1024


def give_back_arrays() -> bool:
    """Return large arrays to the system as soon as they are freed; return whether this system needed the setting.

    glibc allocates each block above a threshold separately, and returns it when it is freed. But freeing a larger block
    raises the threshold, up to 32 MiB; from then on the arrays of long texts lie among small blocks, in a heap per
    thread, and are never returned: after eight texts, 800 MiB were allocated and unused. A threshold that was set
    explicitly is not raised.
    """
    if VARIABLE in os.environ or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_PARAMETER, THRESHOLD))
