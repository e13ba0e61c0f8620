"""What a page asks of a model, computed when it is asked."""

import numpy as np

from attention.core.ablation import Change, effects
from attention.experiments.five_ways import run
from attention.experiments.pca import of_states
from attention.lesson.heads import head_thumbs
from attention.lesson.next_token import forecast
from attention.lesson.survey import survey
from attention.measures.induction import scores_of
from attention.models.one_page import is_written
from attention.models.one_page import run as run_page
from attention.training.jobs import Status
from tests.loaded import load

__all__ = ["Fresh", "OfJob"]


class Fresh:
    """What is worked out of a run, anew each time."""

    def __init__(self, trace, scene=None):
        self.model, self.trace, self.scene = load(trace.info.model_id), trace, scene

    def survey(self, look):
        return survey(self.trace, look)

    def five_ways(self):
        return run(self.scene.attention, self.scene.head)

    def forecast(self):
        found = self.model.next_token(self.trace)
        return None if found is None else forecast(found, self.trace.text)

    def unmasked(self):
        return self.model.unmasked(self.trace.text)

    def effects(self, changes):
        outputs = self.model.outputs(self.trace.text, None, (Change(), *changes))
        return effects(outputs, np.array([not token.is_special for token in self.trace.tokens]))

    def passed(self):
        insides, found = self.model.insides(), self.model.next_token(self.trace)
        if insides is None or not is_written(insides):
            return None
        logits = () if found is None else (found.logits[-1], found.labels)
        return run_page(insides, self.trace, *logits)

    def reading(self, text):
        return self.model.trace(text)

    def added(self):
        return self.scene.attention.added

    def thumbs(self):
        return tuple(head_thumbs(self.scene))

    def syntax(self):
        return None

    def prefix_matching(self):
        return scores_of(self.trace)

    def plane(self, tokens):
        return of_states(self.trace.hidden_states, tokens)

    def job(self, job):
        return Status()

    def answer(self):
        return self.model.answer(self.trace) if self.trace.info.reading.has_classes else None


class OfJob:
    """A server on which one job has this status."""

    def __init__(self, job, **status):
        self._job, self.status = job, Status(**status)

    def job(self, job):
        assert job is self._job
        return self.status
