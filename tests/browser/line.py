"""The line from the server to a page, made slow."""

from __future__ import annotations

import re
import time
from contextlib import suppress

from playwright.sync_api import Error


class Line:
    """The line from the server to a page, on which answers can be held back."""

    def __init__(self, page):
        self.page = page
        self.held = None
        page.route(re.compile("/_attention/page/"), self._give)

    def _give(self, route):
        if self.held is None:
            route.continue_()
            return
        # The server answers, and the page hears nothing of it, unless all is let through meanwhile.
        response = route.fetch()
        if self.held is None:
            _give_back(route, response)
        else:
            self.held.append((route, response))

    def hold(self):
        """From now on, the page hears nothing."""
        self.held = []

    def wait_for_answers(self, count):
        """Wait until the server has answered so many presses."""
        deadline = time.monotonic() + 120
        while len(self.held) < count:
            assert time.monotonic() < deadline, "the server has not answered"
            # Messages arrive while the browser is spoken to.
            self.page.evaluate("null")

    def release(self):
        """Let everything through that was held back, in its order."""
        held, self.held = self.held, None
        for route, response in held:
            _give_back(route, response)


def _give_back(route, response):
    # The page has taken back what a newer press has overtaken.
    with suppress(Error):
        route.fulfill(response=response)
