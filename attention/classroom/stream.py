"""The stream of server-sent events (WHATWG HTML, section 9.2) to a screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from attention.answer.asked import takes_gzip
from attention.classroom.followers import GZIP_HEAD, Follower, Followers, Written

# In milliseconds: when a browser reconnects.
_RETRY = Written.of(b"retry: 1000\n\n")
# Prevent buffering by proxies.
_HEADERS = {"Vary": "Accept-Encoding", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """Sends messages to a follower until either side ends the stream."""

    def __init__(
        self,
        request: Request,
        followers: Followers,
        own: Mapping[str, object],
        changed: Callable[[], None],
        seat: str = "",
    ) -> None:
        """``own`` is for this screen alone; ``changed`` is called when it joins and leaves."""
        self._followers, self._own, self._changed, self._seat = followers, own, changed, seat
        self._is_packed = takes_gzip(request.headers.get("accept-encoding", ""))
        headers = {**_HEADERS, "Content-Encoding": "gzip"} if self._is_packed else _HEADERS
        super().__init__((), headers=headers)
        # Without a charset: server-sent events have none.
        self.headers["Content-Type"] = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Join, send, and leave."""
        follower = self._followers.join(self._own, self._seat)
        self.body_iterator = self._sent_to(follower)
        self._changed()
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._followers.leave(follower, self._seat)
            self._changed()

    async def _sent_to(self, follower: Follower) -> AsyncIterator[bytes]:
        yield (GZIP_HEAD if self._is_packed else b"") + self._joined((_RETRY,))
        while not follower.is_gone:
            yield self._joined(await follower.next())

    def _joined(self, found: Sequence[Written]) -> bytes:
        return b"".join(each.packed if self._is_packed else each.plain for each in found)
