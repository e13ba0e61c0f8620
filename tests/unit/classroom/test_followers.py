import asyncio
import json
import zlib
from zlib import compressobj

from hypothesis import given
from hypothesis import strategies as st

from attention.classroom import followers as of_followers
from attention.classroom.followers import GZIP_HEAD, MOST_OF_ONE, Followers, event


def messages(sent):
    """Read server-sent events as a browser does: fields line by line, a message up to an empty line."""
    found = []
    for block in b"".join(each.plain for each in sent).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


@given(st.text())
def test_whatever_was_typed_arrives_as_one_message(text):
    wanted = text.encode("utf-8", "replace").decode()
    assert messages([event("view", {"title": text})]) == [("view", {"title": wanted})]


@given(st.lists(st.text() | st.text("ab", min_size=300), min_size=1))
def test_messages_in_any_order_are_one_stream_of_gzip_that_is_read_as_it_comes(texts):
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    assert unpacker.decompress(GZIP_HEAD) == b""
    for text in texts:
        written = event("view", text)
        assert unpacker.decompress(written.packed) == written.plain
    assert not unpacker.unused_data


def test_what_repeats_takes_little_and_is_compressed_once_for_everybody(monkeypatch):
    made = []
    monkeypatch.setattr(of_followers.zlib, "compressobj", lambda **how: made.append(1) or compressobj(**how))

    async def follow():
        followers = Followers()
        screens = [followers.join({}) for _ in range(50)]
        followers.send("view", "cat " * 5_000)
        late = followers.join({"mine": None})
        return [await each.next() for each in (*screens, late)]

    *sent, of_late = asyncio.run(follow())
    assert len(made) == 1
    assert len(sent[0][-1].packed) < 500 < len(sent[0][-1].plain)
    assert all(each[-1] is sent[0][-1] for each in sent)
    assert of_late[0] is sent[0][-1]


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
        (beat,) = await early.next(beat=0.01)
        assert beat.plain == b": \n\n"
        assert zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(GZIP_HEAD + beat.packed) == beat.plain
        followers.leave(early)
        assert early.is_gone
        assert len(followers) == 1
        followers.let_go()
        assert late.is_gone

    asyncio.run(follow())


def test_a_pupil_is_one_on_a_few_screens_and_the_oldest_goes_for_one_more():
    async def follow():
        followers = Followers()
        ours = [followers.join({}, "one") for _ in range(MOST_OF_ONE)]
        other = followers.join({}, "other")
        assert (len(followers), followers.n_seats) == (MOST_OF_ONE + 1, 2)
        assert await ours[0].next() == ()
        waiting = asyncio.create_task(ours[0].next())
        await asyncio.sleep(0)
        newest = followers.join({}, "one")
        assert (len(followers), followers.n_seats) == (MOST_OF_ONE + 1, 2)
        # It is told, so that its browser does not come back and drive out the next.
        ((kind, said),) = messages(await waiting)
        assert (kind, ours[0].is_gone) == ("over", True)
        assert "other windows" in said["told"]
        assert not any(each.is_gone for each in (*ours[1:], other, newest))
        followers.leave(ours[0], "one")
        for each in (*ours[1:], newest):
            assert followers.n_seats == 2
            followers.leave(each, "one")
        assert (len(followers), followers.n_seats) == (1, 1)

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

    assert asyncio.run(leave()) == ()


def test_what_is_for_each_alone_reaches_all_their_screens_and_those_that_come_later():
    async def follow():
        followers = Followers()
        mine, mine_too, yours = (followers.join({}, seat) for seat in ("me", "me", "you"))
        wall = followers.join({})
        followers.send("view", 1)
        followers.send_each("verdict", {"me": "right", "you": "close"})
        late, stranger = followers.join({"verdict": None}, "me"), followers.join({}, "she")
        screens = (mine, mine_too, yours, late, wall, stranger)
        return [dict(messages(await each.next())).get("verdict") for each in screens]

    assert asyncio.run(follow()) == ["right", "right", "close", "right", None, None]
