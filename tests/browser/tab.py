"""A browser tab with the app, and what a user sees and does there."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
from playwright.sync_api import Download, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from attention.page.pages import MODELS, PAGES

STEP_PAGE = "step_by_step"
# In ms: a new server's first page waits for torch and the weights.
PATIENCE = 60_000
# The pictures' scripts arrive after the page, and a matrix may be turning.
IS_DRAWN = """() => {
  const page = document.querySelector('.page');
  const places = [...document.querySelectorAll('.page .figure')];
  return page?.firstElementChild && !page.hasAttribute('aria-busy') && !page.querySelector('.waiting')
    && places.every(place => !place.hasAttribute('data-waiting') && place.shadowRoot?.querySelector('.root > *'))
    && !places.some(place => place.shadowRoot.querySelector('[data-turning]'));
}"""
# After the second frame, everything that a scroll triggers is over.
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
TURN = "address => { history.pushState(null, '', address); dispatchEvent(new PopStateEvent('popstate')); }"
QUERY = "() => JSON.stringify(Object.fromEntries(new URLSearchParams(location.search)))"


class Tab:
    """A tab that records its errors for the end of the test."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        page.on("console", self._hear)

    def _hear(self, message) -> None:
        # Streamlit first looks for its server below the page's path; only that may be answered with 404.
        is_probe = "404" in message.text and "/_stcore/" in message.location.get("url", "")
        if message.type == "error" and not is_probe:
            self.errors.append(f"{message.text} {message.location}")

    def foreign_requests(self) -> list[str]:
        """Requests to other machines."""
        host = urlsplit(self.url).netloc
        own = {("http", host), ("ws", host)}
        return [
            url
            for url in self.requests
            if (urlsplit(url).scheme, urlsplit(url).netloc) not in own and not url.startswith(("data:", "blob:"))
        ]

    # ------------------------------------------------------------------------------- going places

    def go(self, path: str = STEP_PAGE, **query: str) -> Tab:
        """Open a page and wait until it is there."""
        return self.go_to(self._address(path, query))

    def turn_to(self, path: str = STEP_PAGE, **query: str) -> Tab:
        """Go to another view as Back does: the app stays, which takes a tenth of the time of loading it again."""
        if not self.page.url.startswith(self.url):
            return self.go(path, **query)
        self.page.evaluate(TURN, self._address(path, query))
        return self.settled()

    def _address(self, path: str, query: dict[str, str]) -> str:
        return f"{self.url}/{path}" + (f"?{urlencode(query)}" if query else "")

    def go_to(self, url: str) -> Tab:
        """Open a link and wait until it is there."""
        self.page.goto(url)
        return self.settled()

    def settled(self) -> Tab:
        """Wait until the page has its text and pictures, and nothing is running."""
        self.page.wait_for_function(IS_DRAWN, timeout=PATIENCE)
        expect(self.page.locator('[data-testid="stException"]')).to_have_count(0)
        return self

    def query(self) -> dict[str, str]:
        """The parameters in the address."""
        return dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))

    def expect_query(self, **wanted: str) -> Tab:
        """Wait until the address has exactly these parameters, and the page has followed."""
        try:
            self.page.wait_for_function(
                f"wanted => {{ const found = ({QUERY})(); return Object.keys(JSON.parse(found)).length === "
                "Object.keys(wanted).length && Object.entries(wanted).every(([name, value]) => "
                "JSON.parse(found)[name] === value); }",
                arg=wanted,
                timeout=PATIENCE,
            )
        except PlaywrightTimeoutError:
            assert self.query() == wanted
        return self.settled()

    # ------------------------------------------------------------------------------- what is seen

    @property
    def proof(self) -> Locator:
        """The line at the bottom."""
        return self.page.get_by_role("note", name="Proof")

    @property
    def notices(self) -> Locator:
        return self.page.locator(".notice:visible")

    @property
    def cards(self) -> Locator:
        """The models in the catalogue."""
        return self.page.locator(".model")

    @property
    def field(self) -> Locator:
        """The sentence field."""
        return self.page.get_by_role("textbox", name="Sentence", exact=True)

    @property
    def heading(self) -> Locator:
        """The heading of the step."""
        return self.page.get_by_role("heading", level=2)

    @property
    def words(self) -> Locator:
        """The step's text about the sentence."""
        return self.page.locator(".prose:not(.detail, .aside)")

    @property
    def detail(self) -> Locator:
        """The explanation of the open cell."""
        return self.page.locator(".prose.detail")

    @property
    def chips(self) -> Locator:
        """The tokens of the first step."""
        return self.page.locator(".tokens .chip")

    @property
    def steps(self) -> Locator:
        return self.page.get_by_role("navigation", name="Steps")

    @property
    def current_step(self) -> Locator:
        return self.steps.locator("[aria-current=step]")

    def matrix(self, name: str, pane: str = "main") -> Picture:
        staged = self.page.locator(f".st-key-{pane}_stage").filter(has=self.page.locator(f"[data-name={name}]"))
        return Picture(self.page, self.page.locator(f".st-key-{pane}_{name}").or_(staged).first)

    def heads(self, pane: str = "main") -> Locator:
        """The buttons of all heads of a layer, on the map."""
        return self.page.locator(f".st-key-{'map' if pane == 'main' else 'other_map'} button.head")

    def alternatives(self, name: str) -> Locator:
        """The buttons of a group, one of which is pressed."""
        return self.page.get_by_role("radiogroup", name=name)

    def control(self, label: str) -> Locator:
        """The list with this name in a line of controls, or under *More*."""
        named = self.page.locator("select").and_(self.page.get_by_role("combobox", name=label, exact=True))
        # Hidden elements have no accessible name.
        title = self.page.locator(".label", has_text=re.compile(f"^{re.escape(label)}$"))
        return named.or_(self.page.locator(".fold .control").filter(has=title).locator("select"))

    def expect_chosen(self, label: str, option: str) -> Tab:
        """Wait until a list in a line shows this option."""
        expect(self.control(label).locator("option:checked")).to_have_text(option)
        return self

    # ------------------------------------------------------------------------------- what is done

    def menu(self, name: str) -> Tab:
        """Open a menu in the header."""
        self.page.locator(".st-key-header").get_by_role("button", name=name, exact=True).click()
        return self

    def to_page(self, title: str) -> Tab:
        """Choose a page from the menu of its group."""
        group = next((page.group for page in PAGES if page.title == title), "")
        if title == MODELS.title:
            self.control("Model").select_option(label="All models …")
            return self
        self.menu(group)
        self.page.locator(".st-key-header").get_by_role("link", name=title, exact=True).click()
        return self

    def pick_example(self, label: str, field: str = "Sentence") -> Tab:
        """Open the panel under a field, and choose an example."""
        self.page.get_by_role("textbox", name=field, exact=True).click()
        self.page.locator(".examples").get_by_role("button", name=label, exact=True).click()
        return self

    def copy_link(self) -> Tab:
        """Choose *Copy link* from the menu."""
        self.menu("Share").page.get_by_role("button", name="Copy link", exact=True).click()
        return self

    def download_page(self) -> Download:
        """Choose *Download this page* from the menu, and wait for the file."""
        self.menu("Share")
        return self.take_away("Download this page")

    def take_away(self, label: str) -> Download:
        """Press a button or link for a file, and wait for it."""
        of_page = self.page.get_by_role("link", name=label, exact=True)
        with self.page.expect_download() as download:
            of_page.or_(self.page.get_by_role("button", name=label, exact=True)).click()
        return download.value

    def type_sentence(self, text: str) -> Tab:
        """Type a sentence and press Enter."""
        self.field.fill(text)
        self.field.press("Enter")
        return self

    def unfold(self) -> Tab:
        """Open *More*."""
        self.page.locator(".st-key-context .fold > button").click()
        return self

    def turn(self, label: str) -> Tab:
        """Turn a folded switch on or off."""
        self.unfold().page.get_by_role("switch", name=label).click()
        return self

    def _choose(self, control: Locator, option: str) -> Tab:
        """Choose from a list in a line, which may be folded."""
        is_folded = control.evaluate("element => !element.checkVisibility() && Boolean(element.closest('.fold'))")
        if is_folded:
            self.unfold()
        control.select_option(label=option)
        if is_folded:
            control.press("Escape")
        return self

    def pick(self, group: str, option: str) -> Tab:
        """Press a button of a group, or choose from a list in a line."""
        either = self.control(group).or_(self.alternatives(group)).first
        # Ask the element itself, which is awaited: while a page is redrawn, neither may exist.
        if either.evaluate("element => element.tagName") == "SELECT":
            return self._choose(self.control(group), option)
        self.alternatives(group).get_by_role("radio", name=option, exact=True).click()
        return self

    def select(self, label: str, option: str, nth: int = 0) -> Tab:
        """Choose from a drop-down list."""
        return self._choose(self.control(label).nth(nth), option)

    def to_step(self, name: str) -> Tab:
        """Click on a step in the stepper, and wait for it."""
        button = self.steps.get_by_role("button", name=re.compile(rf"^\d {re.escape(name)}$"))
        number = button.inner_text()[0]
        button.click()
        expect(self.heading.first).to_have_text(re.compile(rf"^{number}\. "))
        return self.settled()

    def next(self) -> Tab:
        """Press the button to the next step, and wait for it."""
        number = int(re.match(r"\d+", self.heading.first.inner_text())[0])
        self.page.get_by_role("button", name=re.compile("^Next")).click()
        expect(self.heading.first).to_have_text(re.compile(rf"^{number + 1}\. "))
        return self.settled()


class Picture:
    """A drawn matrix."""

    def __init__(self, page: Page, root: Locator) -> None:
        self.page = page
        self.root = root
        self.picture = root.locator(".picture")
        self.readout = root.locator(".readout")

    def cell(self, row: int, column: int) -> Locator:
        """The number in a cell."""
        return self.root.locator(f"rect[data-row='{row}'][data-column='{column}'] + text")

    def click(self, row: int, column: int) -> None:
        """Click on a cell, wherever the picture has scrolled."""
        # In one call, because the picture may be redrawn at any time.
        position = self.root.locator(f"rect[data-row='{row}'][data-column='{column}']").evaluate(
            """rect => {
              const [box, around] = [rect, rect.closest('.picture')].map(each => each.getBoundingClientRect());
              return { x: box.x + box.width / 2 - around.x, y: box.y + box.height / 2 - around.y };
            }"""
        )
        self.picture.click(position=position)

    def labels(self) -> list[str]:
        """The row labels, perhaps shortened."""
        return self.root.locator(".labels text").evaluate_all(
            "all => all.sort((one, other) => one.getAttribute('y') - other.getAttribute('y'))"
            ".map(each => each.firstChild.textContent)"
        )

    def expect_to_show(self, values: np.ndarray, masked: str = "−∞", n_totals: int = 0) -> None:
        """Wait for a matrix with these numbers, and compare every number written in it.

        A cell of −inf is masked: it is hatched, with the text ``masked``. The last ``n_totals`` rows are sums, and
        not part of the shape.
        """
        expect(self.root.locator(".shape")).to_have_text(f"{values.shape[0] - n_totals}×{values.shape[1]}")
        finite = values[np.isfinite(values)]
        expect(self.root.locator(".range")).to_have_text(
            re.compile("^" + " … ".join(_written(extreme) for extreme in (finite.min(), finite.max())) + "$")
        )
        found = json.loads(
            self.root.evaluate(
                """root => JSON.stringify([...shadow(root).querySelectorAll('rect[data-row] + text')].map(text => {
                  const { row, column } = text.previousSibling.dataset;
                  const isHatched = text.previousSibling.getAttribute('fill').startsWith('url(');
                  return [Number(row), Number(column), text.textContent, isHatched];
                }));
                function shadow(element) {
                  const host = [element, ...element.querySelectorAll('*')].find(each => each.shadowRoot);
                  return host.shadowRoot;
                }"""
            )
        )
        if not found:
            self.expect_readouts(values, masked)
            return
        # Masked and missing cells have no number.
        assert len(found) == np.count_nonzero(~np.isnan(values))
        for row, column, text, is_hatched in found:
            value = values[row, column]
            assert is_hatched == np.isneginf(value), (row, column, text, value)
            assert text == masked if is_hatched else is_rounded(text, value), (row, column, text, value)

    def expect_readouts(self, values: np.ndarray, masked: str = "−∞") -> None:
        """Go to the corners and compare their readouts, for cells that are too small for numbers."""
        last_row, last_column = values.shape[0] - 1, values.shape[1] - 1
        self.picture.focus()
        for keys, place in (
            ("Control+End", (last_row, last_column)),
            ("Control+Home", (0, 0)),
            ("End", (0, last_column)),
            ("ArrowDown", (min(1, last_row), last_column)),
            ("Home", (min(1, last_row), 0)),
        ):
            self.picture.press(keys)
            # A key's effect on the picture is complete before it is released.
            said = self.root.locator(".readout b").inner_text()
            assert is_said(said, values[place], masked), (place, said, values[place])


def parse(text: str) -> float:
    """Parse a number of the page."""
    return float(text.replace("−", "-").replace("∞", "inf"))


def is_rounded(text: str, value: float) -> bool:
    """Tell whether a text is the number, rounded to the text's digits."""
    decimals = len(text.partition(".")[2])
    return abs(parse(text) - float(value)) <= 0.5 * 10**-decimals + 1e-5


def is_said(text: str, value: float, masked: str = "−∞") -> bool:
    """Tell whether a text is the number with four significant digits, or the text of a masked cell."""
    if np.isneginf(value):
        return text == f"{masked} (masked)"
    return abs(parse(text) - float(value)) <= 5e-4 * abs(float(value)) + 1e-6


def _written(value: float) -> str:
    """Return a pattern for a number with two decimals, with ties rounded either way."""
    ways = {f"{value + nudge:.2f}".replace("-0.00", "0.00").replace("-", "−") for nudge in (-1e-5, 0, 1e-5)}
    return f"({'|'.join(map(re.escape, ways))})"
