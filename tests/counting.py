"""A job that counts, for the tests of jobs; it imports little more than NumPy, because each one starts a Python.

It writes numbered frames with the text it was given; the deaf one reads no commands.
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
