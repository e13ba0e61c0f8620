"""Named behaviours, each the threshold of a measure, with its source."""

from __future__ import annotations

import math
from dataclasses import dataclass

from attention.core.messages import message

# From the code that Clark et al. 2019 published with their paper (General_Analysis.ipynb, figure 6).

NEIGHBOUR = 0.5  # previous and next token
SINK = 0.6  # [CLS] and [SEP]
# The paper calls a head broad above 3.8 nats, for inputs of 128 tokens. No row of 44 tokens or fewer could exceed that,
# so the ratio is used: 3.8 out of the maximum for 128 tokens, ln 128 = 4.85.
BROAD_NATS, CLARK_TOKENS = 3.8, 128
BROAD = BROAD_NATS / math.log(CLARK_TOKENS)  # 0.783

# Thresholds of this project.
SAME_WORD = 0.5  # as for neighbours
POSITIONAL = 0.5  # more than half of the variance


@dataclass(frozen=True, slots=True)
class BehaviourRule:
    """A head shows the behaviour if its summary's ``measure`` exceeds the threshold."""

    name: str
    measure: str
    threshold: float
    meaning: str
    source: str


CLARK, OURS = "Clark et al. 2019", message("ours")
BEHAVIOUR_RULES = (
    BehaviourRule(
        message("previous token"), "previous", NEIGHBOUR, message("share of weight on the token before"), CLARK
    ),
    BehaviourRule(message("next token"), "next", NEIGHBOUR, message("share of weight on the token after"), CLARK),
    BehaviourRule(
        message("same word"), "same_word", SAME_WORD, message("share of weight on the same word elsewhere"), OURS
    ),
    BehaviourRule(
        message("separator sink"),
        "separator",
        SINK,
        message("share of weight on separators, {sign} in BERT", sign="[SEP]"),
        CLARK,
    ),
    BehaviourRule(
        message("start sink"),
        "first",
        SINK,
        message("share of weight on the first token, {sign} in BERT", sign="[CLS]"),
        message("{paper}, for {sign}", paper=CLARK, sign="[CLS]"),
    ),
    BehaviourRule(
        message("broad"),
        "normalised_entropy",
        BROAD,
        message("entropy, as a share of its maximum (ln K for K tokens),"),
        message("{paper}, {nats} nats of ln {tokens}", paper=CLARK, nats=BROAD_NATS, tokens=CLARK_TOKENS),
    ),
    BehaviourRule(
        message("positional"), "positional", POSITIONAL, message("variance explained by the offset alone"), OURS
    ),
)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A rule applied to one head."""

    rule: BehaviourRule
    score: float

    @property
    def name(self) -> str:
        """The behaviour's name."""
        return self.rule.name

    @property
    def passes(self) -> bool:
        """Whether the head shows it."""
        return self.score > self.rule.threshold
