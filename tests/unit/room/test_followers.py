import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from attention.room.followers import Followers, event


def messages(written):
    """Read server-sent events as a browser does: fields line by line, a message up to an empty line."""
    found = []
    for block in written.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


@given(st.text())
def test_whatever_was_typed_arrives_as_one_message(text):
    wanted = text.encode("utf-8", "replace").decode()
    assert messages(event("view", {"title": text})) == [("view", {"title": wanted})]


def test_a_screen_gets_what_is_shown_and_what_comes_and_the_latest_of_each_kind():
    async def follow():
        followers = Followers()
        followers.send("view", 1)
        early = followers.join({"mine": "own"})
        assert messages(await early.next()) == [("view", 1), ("mine", "own")]
        followers.send("view", 2)
        followers.send("question", "?")
        followers.send("view", 3)
        late = followers.join({})
        assert sorted(messages(await early.next())) == [("question", "?"), ("view", 3)]
        assert sorted(messages(await late.next())) == [("question", "?"), ("view", 3)]
        followers.send("view", 3)  # nothing new
        assert await early.next(beat=0.01) == b": \n\n"
        followers.leave(early)
        assert early.is_gone
        assert len(followers) == 1
        followers.let_go()
        assert late.is_gone

    asyncio.run(follow())


def test_who_is_gone_does_not_wait():
    async def leave():
        followers = Followers()
        screen = followers.join({})
        await screen.next()
        waiting = asyncio.create_task(screen.next())
        await asyncio.sleep(0)
        followers.leave(screen)
        return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(leave()) == b""
