"""The bytes of a step change: most of a page is there already, and scripts are cached."""

import statistics

from tests.bench.client import STEP_PAGE, Visitor, visited
from tests.bench.walk import MODELS, Walk

SENTENCE = "The old cat sat on the mat near a very small house"
MAX_MEDIAN_KIB, MAX_LARGEST_KIB = 12, 25


async def walk_there_and_back(url):
    n_bytes = []
    for info in MODELS:
        visitor = await Visitor.open(url, STEP_PAGE, model=info.model_id, text=SENTENCE)
        walk = Walk(visitor)
        n_bytes += [(await walk.step()).n_bytes for _ in range(walk.length)]
        await visitor.close()
    return n_bytes


def test_half_of_all_step_changes_send_at_most_twelve_kilobytes_and_none_more_than_25(server):
    n_bytes = visited(walk_there_and_back(server.url))
    assert len(SENTENCE.split()) == 12
    assert statistics.median(n_bytes) <= MAX_MEDIAN_KIB * 1024
    assert max(n_bytes) <= MAX_LARGEST_KIB * 1024
