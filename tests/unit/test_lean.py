"""A fresh process that runs a real model imports neither the compiler of torch nor what only many machines need."""

import subprocess
import sys

import pytest

RUN = """
import sys
from attention.models import load

assert load("minilm-l6").trace("The cat sat on the mat.").check() < 1e-5
heavy = ("torch._dynamo", "torch.distributed.tensor", "scipy")
assert not [name for name in heavy if name in sys.modules]

import torch

@torch.compile(backend="eager")
def doubled(numbers):
    return 2 * numbers

assert doubled(torch.ones(2)).tolist() == [2, 2]
"""


@pytest.mark.slow
def test_a_model_runs_without_the_compiler_which_can_be_imported_later():
    subprocess.run([sys.executable, "-W", "ignore", "-c", RUN], check=True, timeout=300)
