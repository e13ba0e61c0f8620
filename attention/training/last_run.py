"""The last run of each job on disk, so that later visitors see it, even after a restart of the server.

One JSON file for each job: human-readable, and loading it executes nothing. Only numbers of jobs with
``checks`` are kept, and no input of users.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from attention.training.jobs import Frame, Job, Run

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LastRuns:
    """The last runs of jobs in a folder."""

    folder: Path

    def keep(self, job: Job, run: Run) -> None:
        """Save a run atomically; if that fails, log it."""
        if job.checks is None or run.is_private:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self.folder, delete=False) as file:
                json.dump(_written(run), file)
            # Several servers may share the folder: the last to write wins, and no reader sees half a file.
            Path(file.name).replace(self._place(job))
        except OSError as error:
            _LOGGER.warning("What came of %s could not be kept in %s: %s", job.name, self.folder, error.strerror)

    def find(self, job: Job) -> Run | None:
        """Return the saved run; None if it is missing or invalid."""
        if job.checks is None:
            return None
        place = self._place(job)
        try:
            run = _read(json.loads(place.read_text("utf-8")))
            job.checks(run.frames)
        except FileNotFoundError:
            return None
        # It may have been written by another version or edited by hand.
        except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            _LOGGER.warning("What was kept of %s in %s cannot be read: %s", job.name, place, error)
            return None
        return run

    def _place(self, job: Job) -> Path:
        return self.folder / f"{job.name}.json"


def _written(run: Run) -> dict[str, Any]:
    return {
        "began": run.began.isoformat(),
        "arguments": run.arguments,
        "ending": run.ending,
        "seconds": run.seconds,
        "frames": [{name: number.item() for name, number in frame.items()} for frame in run.frames],
    }


def _read(written: Mapping[str, Any]) -> Run:
    """Parse a run; raise ValueError, LookupError, TypeError or AttributeError if it is malformed."""
    began, frames = datetime.fromisoformat(written["began"]), tuple(map(_frame, written["frames"]))
    return Run(tuple(written["arguments"]), "", began, frames, written["ending"], float(written["seconds"]))


def _frame(written: Mapping[str, Any]) -> Frame:
    frame = {name: np.array(number) for name, number in written.items()}
    for each in frame.values():
        each.flags.writeable = False
    return frame
