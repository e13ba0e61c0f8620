"""Send hostile links through every page, with a fresh seed each time: python -m tests.fuzz."""

import argparse
import random
import sys
import traceback
from itertools import count, cycle, islice
from urllib.parse import urlencode

from attention.page.content.registry import CONTENTS
from tests.hostile import PARAMETERS, links
from tests.pages.conftest import Shown
from tests.pages.test_memory import fetch

__all__ = ["main"]


def main() -> int:
    """Print each link that raised, with its error, then their number; return 1 if there are any."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seed", type=int, default=None, help="the seed of an earlier run; a fresh one without it")
    arguments.add_argument("--links", type=int, default=5000, help="how many links (default: %(default)s)")
    wanted = arguments.parse_args()
    seed = random.SystemRandom().randrange(2**32) if wanted.seed is None else wanted.seed
    print(f"seed {seed}", flush=True)
    n_raised = 0
    chance = random.Random(seed)
    sent = islice((link for _ in count() for link in links(chance, [*PARAMETERS])), wanted.links)
    for page, query in zip(cycle(CONTENTS), sent, strict=False):
        try:
            shown = Shown(page, query).run()
            if shown.whole_file:
                fetch(shown.whole_file)
        except Exception:
            n_raised += 1
            print(f"/{page.address}?{urlencode(query)}", traceback.format_exc(), sep="\n", flush=True)
    print(f"{wanted.links:,} links, seed {seed}: {n_raised:,} raised")
    return min(n_raised, 1)


if __name__ == "__main__":
    sys.exit(main())
