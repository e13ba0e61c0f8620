"""A job that counts, for the tests of jobs: of little but NumPy, for each of them starts a Python of its own.

It writes so many frames, each with its number and with what it was given to read. The deaf one reads nothing.
"""

import sys
import time

import numpy as np

from attention.training.jobs import write_frame

if __name__ == "__main__":
    heard = "" if sys.argv[-1] == "deaf" else sys.stdin.buffer.read().decode()
    n_frames = int(sys.argv[1])
    for number in range(1, n_frames + 1):
        text = {"text": np.array(heard)} if heard else {}
        write_frame(sys.stdout.buffer, number / n_frames, number=np.int64(number), **text)
        time.sleep(0.05)
