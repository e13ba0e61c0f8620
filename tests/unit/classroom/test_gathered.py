import asyncio

import pytest

from attention.classroom.gathered import Gathered


class Counter:
    """Gives each twice what it asks for, when it is let; and keeps who came together."""

    def __init__(self):
        self.batches, self.may = [], asyncio.Event()

    async def act(self, asked):
        self.batches.append(list(asked))
        await self.may.wait()
        if "wrong" in asked:
            raise ValueError("wrong")
        return [2 * each for each in asked]


def test_who_comes_alone_is_served_at_once_and_who_comes_meanwhile_together():
    async def story():
        counter = Counter()
        gathered = Gathered(counter.act, most=4)
        calls = [asyncio.create_task(gathered(n)) for n in range(1)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert counter.batches == [[0]]
        calls += [asyncio.create_task(gathered(n)) for n in range(1, 7)]
        await asyncio.sleep(0)
        counter.may.set()
        assert await asyncio.gather(*calls) == [0, 2, 4, 6, 8, 10, 12]
        assert counter.batches == [[0], [1, 2, 3, 4], [5, 6]]
        assert await gathered(7) == 14
        assert counter.batches[-1] == [7]

    asyncio.run(story())


def test_what_fails_fails_for_all_who_came_together_and_nobody_else():
    async def story():
        counter = Counter()
        counter.may.set()
        gathered = Gathered(counter.act)
        together = await asyncio.gather(gathered("a"), gathered("wrong"), return_exceptions=True)
        assert [str(each) for each in together] == ["wrong", "wrong"]
        assert await gathered("b") == "bb"

    asyncio.run(story())


def test_who_has_gone_is_not_served_and_keeps_nobody_waiting():
    async def story():
        counter = Counter()
        gathered = Gathered(counter.act)
        first, gone, last = (asyncio.create_task(gathered(n)) for n in (1, 2, 3))
        await asyncio.sleep(0)
        gone.cancel()
        counter.may.set()
        assert (await first, await last) == (2, 6)
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert [2] not in counter.batches
        assert [each for batch in counter.batches for each in batch] == [1, 3]

    asyncio.run(story())
