"""A slow connection from the server to a page."""

from __future__ import annotations

import re
import time
from contextlib import suppress

from playwright.sync_api import Error


class Line:
    """A connection from the server to a page that can hold back answers."""

    def __init__(self, page):
        self.page = page
        self.held = None
        page.route(re.compile("/_attention/page/"), self._give)

    def _give(self, route):
        if self.held is None:
            route.continue_()
            return
        # The server answers at once; the page gets the answer on release.
        response = route.fetch()
        if self.held is None:
            _give_back(route, response)
        else:
            self.held.append((route, response))

    def hold(self):
        """Hold back answers from now on."""
        self.held = []

    def wait_for_answers(self, count):
        """Wait until the server has answered this many presses."""
        deadline = time.monotonic() + 120
        while len(self.held) < count:
            assert time.monotonic() < deadline, "the server has not answered"
            # Playwright handles messages only during calls.
            self.page.evaluate("null")

    def release(self):
        """Deliver everything held back, in order."""
        held, self.held = self.held, None
        for route, response in held:
            _give_back(route, response)


def _give_back(route, response):
    # The page has cancelled requests that a newer press replaced.
    with suppress(Error):
        route.fulfill(response=response)
