"""Two copies of the server that share rooms in one PostgreSQL: changes on one appear on the other."""

import asyncio
import json
import zlib
from contextlib import asynccontextmanager

import pytest

from attention.classroom import screens
from attention.classroom.followers import event

ROOM = "/_attention/room"
LINK = {"page": "step_by_step", "link": "model=toy&step=scores&text=Two+geese+fly"}
PATIENCE = 120


class Browser:
    """The cookies of a browser, and what it asks of one copy of the server after another."""

    def __init__(self, *, takes_gzip=True):
        self.cookies, self.takes_gzip = {}, takes_gzip

    def _scope(self, method, path):
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = [(b"host", b"school.example"), (b"cookie", cookies.encode())]
        headers += [(b"accept-encoding", b"gzip, deflate")] if self.takes_gzip else []
        request = {"type": "http", "method": method, "path": f"{ROOM}/{path}", "raw_path": b"", "query_string": b""}
        return {**request, "headers": headers, "scheme": "http", "server": ("school.example", 80), "root_path": ""}

    async def post(self, app, path, said=None):
        """Return the status of an answer, and what it says."""
        body = json.dumps(said or {}).encode()
        status, found = 0, b""

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            nonlocal status, found
            status = message.get("status", status)
            found += message.get("body", b"")
            for name, value in message.get("headers", ()):
                if name == b"set-cookie":
                    kept, _, rest = value.decode().partition("=")
                    self.cookies[kept] = rest.partition(";")[0]

        await app(self._scope("POST", path), receive, send)
        return status, json.loads(found)

    async def get(self, app, path):
        """Return the status of what is refused."""
        async with self.follow(app, path) as heard:
            async with asyncio.timeout(PATIENCE):
                while not heard.status:
                    await asyncio.sleep(0.01)
            return heard.status

    @asynccontextmanager
    async def follow(self, app, path):
        """Hear what is sent, for as long as it is looked at."""
        heard, over = Heard(), asyncio.Event()

        async def receive():
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            heard.begin(message)
            if heard.status == 200:
                await heard.take(message.get("body", b""))

        following = asyncio.create_task(app(self._scope("GET", path), receive, send))
        try:
            yield heard
        finally:
            over.set()
            await following


class Heard:
    """What was sent to a screen: the latest of each kind, how many of them there were, and in how many bytes."""

    def __init__(self):
        self.latest, self.counts, self._new = {}, {}, asyncio.Condition()
        self.status, self.size, self._packer = 0, 0, None

    def begin(self, message):
        self.status = message.get("status", self.status)
        if (b"content-encoding", b"gzip") in message.get("headers", ()):
            self._packer = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def is_packed(self):
        return self._packer is not None

    async def take(self, body):
        self.size += len(body)
        # Whatever has come can be read at once.
        body = self._packer.decompress(body) if self._packer else body
        for block in body.decode().split("\n\n"):
            kind, _, data = block.removeprefix("event: ").partition("\ndata: ")
            if data:
                self.latest[kind] = json.loads(data)
                self.counts[kind] = self.counts.get(kind, 0) + 1
        async with self._new:
            self._new.notify_all()

    async def until(self, kind, holds):
        async with asyncio.timeout(PATIENCE), self._new:
            await self._new.wait_for(lambda: kind in self.latest and holds(self.latest[kind]))


def on(step):
    return lambda view: f"step={step}" in view["link"]


async def opened(app):
    teacher = Browser()
    status, said = await teacher.post(app, "open", LINK)
    assert status == 200
    return teacher, said["code"]


async def joined(app, code):
    pupil = Browser()
    assert (await pupil.post(app, f"{code}/join"))[0] == 200
    return pupil


def shown(step):
    return {**LINK, "link": LINK["link"].replace("scores", step)}


@pytest.mark.slow
def test_what_is_shown_and_asked_on_one_copy_is_seen_and_answered_on_the_other(copies):
    here, there = copies

    async def lesson():
        teacher, code = await opened(here)
        pupil, other = await joined(there, code), await joined(here, code)
        async with (
            teacher.follow(here, f"{code}/desk") as desk,
            pupil.follow(there, f"{code}/events") as screen,
            other.follow(here, f"{code}/events") as near,
        ):
            await screen.until("view", on("scores"))
            await near.until("view", on("scores"))
            await desk.until("here", lambda told: told["here"] == 2)
            _, said = await teacher.post(here, f"{code}/show", shown("scale"))
            for each in (screen, near):
                await each.until("view", on("scale"))
            assert screen.latest["question"] is None
            for at in (0, 1):
                await teacher.post(here, f"{code}/point", {"point": {"picture": "scaled", "at": [at, 0], **said}})
            for each in (screen, near):
                await each.until("point", lambda point: point["at"] == [1, 0])
                assert each.latest["point"]["view"] == each.latest["view"]["mark"] == said["view"]
            await teacher.post(here, f"{code}/ask")
            await screen.until("question", bool)
            await screen.until("point", lambda point: point is None)
            number = screen.latest["question"]["number"]
            for one, app in ((pupil, there), (other, here), (pupil, here)):
                assert (await one.post(app, f"{code}/answer", {"number": number, "given": [1]}))[0] == 200
            await desk.until("here", lambda told: told["tally"] and told["tally"]["answered"] == 2)
            await teacher.post(there, f"{code}/reveal")
            await screen.until("question", lambda question: question["told"])
            assert sum(screen.latest["question"]["told"]["counts"]) == 2
            await teacher.post(there, f"{code}/end")
            await desk.until("over", bool)
            await screen.until("over", bool)

    asyncio.run(lesson())


@pytest.mark.slow
def test_many_changes_at_once_lead_to_the_last_and_are_not_all_drawn(copies, monkeypatch):
    here, there = copies
    drawn = []
    monkeypatch.setattr(screens, "_drawn", lambda what: drawn.append(what) or event("view", {"link": what.link}))

    async def lesson():
        teacher, code = await opened(here)
        pupil = await joined(there, code)
        async with pupil.follow(there, f"{code}/events") as screen:
            await screen.until("view", on("scores"))
            drawn.clear()
            change = here.hall.database.store.show
            key = teacher.cookies["attention_class"].partition(".")[2]
            for step in ["scale", "mask", "softmax", "sum"] * 10 + ["heads"]:
                change(code, key, "step_by_step", f"step={step}")
            await screen.until("view", on("heads"))

    asyncio.run(lesson())
    assert len(drawn) < 10


@pytest.mark.slow
def test_a_class_is_told_that_the_database_is_gone_and_goes_on_when_it_is_back(copies, postgres):
    here, there = copies

    async def lesson():
        teacher, code = await opened(here)
        pupil = await joined(there, code)
        async with teacher.follow(here, f"{code}/desk") as desk, pupil.follow(there, f"{code}/events") as screen:
            await screen.until("view", on("scores"))
            await asyncio.to_thread(postgres.stop)
            try:
                for each in (desk, screen):
                    await each.until("trouble", lambda said: said and said["told"].endswith("."))
                status, said = await teacher.post(here, f"{code}/show", shown("scale"))
                assert (status, said["isAway"]) == (503, True)
                assert screen.latest["view"]["link"]
            finally:
                await asyncio.to_thread(postgres.start)
            for each in (desk, screen):
                await each.until("trouble", lambda said: said is None)
            assert (await teacher.post(here, f"{code}/show", shown("scale")))[0] == 200
            await screen.until("view", on("scale"))

    asyncio.run(lesson())
