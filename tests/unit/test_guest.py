"""Importing the package, and loading and running a model, leaves the process unchanged."""

import json
import os
import subprocess
import sys

import pytest

from tests.sources import ROOT, parsed

# What a process can see of itself that a library could have changed.
STATE = """
import gc, json, logging, os, signal, socket, sys, warnings
import huggingface_hub, numpy, sklearn, streamlit, torch, transformers.modeling_utils, transformers.masking_utils

def state():
    loggers = ("", "huggingface_hub", "streamlit", "torch", "transformers")
    return json.loads(json.dumps({
        "environment": dict(os.environ),
        "threads": torch.get_num_threads(),
        "levels": {name: logging.getLogger(name).level for name in loggers},
        "handlers": [str(handler) for handler in logging.root.handlers],
        "verbosity": transformers.utils.logging.get_verbosity(),
        "bar": transformers.utils.logging.is_progress_bar_enabled(),
        "warnings": list(map(str, warnings.filters)),
        "printing": str(numpy.get_printoptions()),
        "errors": numpy.geterr(),
        "grad": torch.is_grad_enabled(),
        "dtype": str(torch.get_default_dtype()),
        "gc": [gc.isenabled(), gc.get_freeze_count(), gc.get_threshold()],
        "signals": [str(signal.getsignal(each)) for each in (signal.SIGINT, signal.SIGTERM)],
        "timeout": socket.getdefaulttimeout(),
        "path": sys.path,
        "folder": os.getcwd(),
    }))

def changed():
    after = state()
    return {name: (before[name], after[name]) for name in after if before[name] != after[name]}

before = state()
"""
# Of a user, who has said nothing about threads, hubs or how much is told.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("HF_", "OMP_", "TRANSFORMERS_", "ATTENTION_"))
}


def said(program, **environment):
    return ran(program, **environment).stdout


def ran(program, **environment):
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not process.returncode, process.stderr
    return process


def module_names():
    paths = [path for path in parsed() if path.parts[0] == "attention"]
    return sorted(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths)


def test_to_import_any_module_changes_nothing():
    names = module_names()
    assert {"attention", "attention.app.__main__", "attention.models.huggingface"} <= set(names)
    program = (
        f"{STATE}\nimport importlib\nfor name in {names!r}:\n    importlib.import_module(name)\n"
        "print(json.dumps([changed(), before['threads']]))"
    )
    changed, n_threads = json.loads(said(program))
    assert changed == {}
    # Nor did anything before that was imported first.
    assert n_threads > 1 or os.cpu_count() == 1


def test_to_load_a_model_and_run_it_changes_nothing_and_asks_nobody():
    program = (
        f"{STATE}\nasked = []\n"
        "sys.addaudithook(lambda event, given: asked.append(event) if event.startswith('socket.') else None)\n"
        "from attention.models import load\n"
        "for model_id in ('toy', 'minilm-l6', 'translator-fr-en'):\n"
        "    load(model_id).trace('le chat dort')\n"
        "print(json.dumps([changed(), asked]))"
    )
    process = ran(program)
    assert json.loads(process.stdout) == [{}, []]
    # Nor is anyone warned.
    assert process.stderr == ""


START = """
import runpy, sys
from attention.app import __main__ as app

def instead(*_, **__):
    import numpy, torch
    from huggingface_hub import constants
    from transformers.utils import logging
    print(torch.get_num_threads(), constants.HF_HUB_OFFLINE, logging.get_verbosity(), logging.is_progress_bar_enabled())

early = [name for name in ("numpy", "torch", "transformers") if name in sys.modules]
assert not early, early
{start}
instead()
"""


@pytest.mark.parametrize(
    "start",
    [
        # As `python -m attention.app` does, and as Streamlit's server imports what `streamlit run` names.
        "runpy.run_module = instead; app._warm_up = lambda: None; sys.argv = ['app']; app.main()",
        "import streamlit.web.cli; assert 'numpy' not in sys.modules; runpy.run_path('app.py', run_name='app')",
    ],
)
@pytest.mark.slow
def test_the_app_prepares_its_process_before_anything_reads_it(start):
    assert set(said(START.format(start=start)).splitlines()) == {"1 True 40 False"}


@pytest.mark.slow
def test_an_owner_decides_otherwise():
    start = "import streamlit.web.cli; runpy.run_path('app.py', run_name='app')"
    assert said(START.format(start=start), OMP_NUM_THREADS="2", HF_HUB_OFFLINE="0").split()[:2] == ["2", "False"]
