"""Text on the page: HTML that is ours, and plain sentences in which nothing is interpreted."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import streamlit as st

from attention.figures import colours
from attention.lesson.proof import Proof, tell_proof
from attention.trace import ModelInfo

__all__ = [
    "news",
    "notice",
    "on_paper",
    "plain",
    "proof_line",
    "prose",
    "shapes_line",
    "styles",
    "unavailable",
]


def _as_in_styles(colour: str) -> str:
    """Write #0072B2 as browsers have it in an element's style: rgb(0, 114, 178)."""
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


# On a dark page, the letters of a formula are mixed with its light text, as words are.
_DARK_LETTERS = "\n".join(
    f"[class*=st-key-formula] .katex [style*='{_as_in_styles(colour)}'] "
    f"{{ color: light-dark({colour}, color-mix(in oklab, {colour} 65%, #e6e9ef)) !important; }}"
    for colour in (colours.QUERY, colours.KEY, colours.VALUE, colours.WEIGHT)
)

# Words take the colour of their letter in the formula, mixed with the text's own colour so that they
# reach a contrast of 4.5:1 on the light and on the dark page.
_STYLES = f"""<style>
.prose {{ font-size: 1.0625rem; line-height: 1.55; overflow-wrap: anywhere; }}
.prose p {{ margin: 0 0 0.75rem; }}
.prose.detail {{ font-size: 0.95rem; }}
.prose.detail p {{ margin: 0 0 0.35rem; }}
.prose code {{ font-size: 0.9em; background: color-mix(in srgb, currentColor 8%, transparent);
  color: inherit; padding: 0.1em 0.3em; border-radius: 0.25em; }}
.prose .q {{ color: color-mix(in oklab, {colours.QUERY} 65%, currentColor); }}
.prose .k {{ color: color-mix(in oklab, {colours.KEY} 65%, currentColor); }}
.prose .v {{ color: color-mix(in oklab, {colours.VALUE} 60%, currentColor); }}
.prose .w {{ color: color-mix(in oklab, {colours.WEIGHT} 65%, currentColor); }}
.notice {{ border-left: 4px solid {colours.KEY}; padding: 0.5rem 0.9rem; border-radius: 0.25rem;
  background: color-mix(in srgb, {colours.KEY} 8%, transparent); overflow-wrap: anywhere; }}
.shapes {{ font-family: monospace; font-size: 0.95rem; overflow-wrap: anywhere; }}
.proof-good {{ color: color-mix(in oklab, {colours.VALUE} 55%, currentColor); }}
.proof-bad {{ color: color-mix(in oklab, #c0262d 70%, currentColor); font-weight: 600; }}
.st-key-proof summary {{ cursor: pointer; }}
.st-key-proof summary > div {{ display: inline; }}
.st-key-proof section {{ max-height: 45vh; overflow: auto; color: CanvasText; font-weight: 400; font-size: 0.95rem; }}
.st-key-proof section p {{ margin: 0 0 0.35rem; }}
.st-key-proof table {{ margin: 0.4rem 0 0.75rem; }}
.st-key-proof th, .st-key-proof td {{ text-align: left; padding: 0.1rem 1rem 0.1rem 0; vertical-align: top; }}
:has(> .st-key-proof) {{ position: sticky; bottom: 0; z-index: 5; }}
.st-key-proof {{ padding: 0.6rem 0 0.8rem;
  background: color-mix(in srgb, light-dark(#ffffff, #0f1318) 88%, transparent); backdrop-filter: blur(10px);
  border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }}
.stMainBlockContainer {{ padding-top: 0.9rem; padding-bottom: 0; max-width: 1760px; }}
.stAppHeader {{ background: transparent; }}
/* A click beside everything puts the page itself in focus, which needs no frame: Streamlit draws it before it. */
.stMain:focus-visible {{ outline: none; box-shadow: none; }}
.stMain:focus-visible::before {{ content: none !important; }}
/* It lies over the way between pages: only its button may take a click. */
.stAppHeader, .stAppHeader div, .stAppHeader span {{ pointer-events: none; }}
.stAppHeader button, .stAppHeader button * {{ pointer-events: auto; }}
/* Which run of the page is drawn: for the browser to say, and not to be seen. */
[class*=st-key-drawn_] {{ display: none; }}
/* At the end of the row there is the menu. */
.st-key-masthead {{ padding-right: 2rem; }}
.st-key-text input {{ font-size: 1.25rem; padding: 0.7rem 0.9rem; }}
[class*=st-key-formula] .stMarkdown > div {{ margin: 0; width: auto; }}
[class*=st-key-formula] .katex-display {{ overflow: visible; }}
/* Where it is narrow, a formula goes on in the next line. */
[class*=st-key-formula] .katex-display > .katex {{ text-align: left; white-space: normal; }}
[class*=st-key-formula] .katex {{ font-size: 1.5rem; }}
{_DARK_LETTERS}
/* Streamlit's own button would leave half a page: work that takes long has a button of ours. */
[data-testid=stStatusWidget] button {{ display: none; }}
[class*=st-key-way_in] a * {{ white-space: normal; overflow: visible; }}
[class*=st-key-way_in] a {{ border: 1px solid color-mix(in srgb, CanvasText 55%, transparent);
  padding: 0.45rem 0.9rem; font-weight: 600; }}
.st-key-step {{ display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 8fr); gap: 1rem 2.5rem; }}
@media (max-width: 800px) {{
  .st-key-step {{ display: flex; }}
  .st-key-step > *, .st-key-step_left, .st-key-step_right {{ display: contents !important; }}
  :has(> .st-key-step_detail) {{ order: 1; }}
  :has(> .st-key-step_panel) {{ order: 2; }}
}}
/* Streamlit's colours of code are too faint on a light page. */
/* Code wraps, so that nothing scrolls sideways; packed numbers, one long word, run out of sight. */
.stCode pre, .stCode pre * {{ white-space: pre-wrap !important; overflow: clip !important; max-width: 100%; }}
.stCode code .token {{ color: inherit !important; }}
.stCode code .token.comment {{ color: color-mix(in srgb, currentColor 75%, transparent) !important; }}
.stCode code .token.keyword {{ color: color-mix(in oklab, {colours.WEIGHT} 65%, currentColor) !important; }}
.stCode code .token.string {{ color: color-mix(in oklab, {colours.VALUE} 55%, currentColor) !important; }}
.stCode code .token.number {{ color: color-mix(in oklab, {colours.QUERY} 65%, currentColor) !important; }}
[data-testid=stButtonGroup] button {{ color: inherit !important; }}
[data-testid=stHeaderActionElements] {{ display: none; }}
/* Where it is narrow, the menu would lie over what is scrolled under it: it stays at the top of the page. */
@media (max-width: 800px) {{
  .stApp {{ timeline-scope: --page; }}
  .stMain {{ scroll-timeline: --page block; }}
  .stAppHeader {{ animation: at-the-top linear both; animation-timeline: --page; animation-range: 0 1.5rem; }}
}}
@keyframes at-the-top {{ to {{ visibility: hidden; }} }}
/* On paper: what is seen and said, and the choices as words, not what is pressed. */
@media not print {{ :has(> .stHtml > .on-paper) {{ display: none; }} }}
@media print {{
  .stAppHeader, .st-key-masthead, .st-key-steps_line, [class*=st-key-way_in], .stButtonGroup, .stButton,
  .stDownloadButton, .stSelectbox, .stCheckbox, .stSlider, .stFileUploader, .stTextInput:has(:placeholder-shown),
  .stExpander:has(> details:not([open])) {{ display: none !important; }}
  .on-paper {{ font-size: 1.0625rem; }}
  .st-key-controls {{ column-gap: 1.5rem; }}
  .st-key-controls > :not(:has(.on-paper)) {{ display: none; }}
  .stMainBlockContainer {{ padding: 0; }}
  .stElementContainer, [class*=_detail] {{ break-inside: avoid; }}
  .stElementContainer:has(.stHeading), :has(> [class*=st-key-formula]) {{ break-after: avoid; }}
  :has(> .st-key-proof) {{ position: static; }}
  .st-key-proof {{ background: none; backdrop-filter: none; }}
}}
</style>"""


def styles() -> None:
    """Write the page's style sheet."""
    st.html(_STYLES)


def prose(text: str, *, is_detail: bool = False, is_aside: bool = False) -> None:
    """Show a lesson text, which is HTML and has its facts escaped already; an aside is not about the step itself."""
    kind = " detail" if is_detail else " aside" if is_aside else ""
    st.html(f'<div class="prose{kind}">{text}</div>')


def notice(sentence: str) -> None:
    """Show a plain sentence that says what is wrong and what to do; it is announced, and never interpreted."""
    st.html(f'<div class="notice" role="status"><bdi>{html.escape(sentence)}</bdi></div>')


def news(sentence: str) -> None:
    """Show a plain sentence that says what has come of something; it is announced, and never interpreted."""
    st.html(f'<div class="prose news" role="status"><bdi>{html.escape(sentence)}</bdi></div>')


def not_for(info: ModelInfo, purpose: str) -> None:
    """Say that a page is not for a model that reads something else."""
    notice(f"{info.name} reads {info.reading.what}, and this page {purpose}: choose another model above.")


def on_paper(choice: str) -> None:
    """Say in words what a control chooses: on paper there are no controls."""
    st.html(f'<bdi class="on-paper">{html.escape(choice)}</bdi>')


def plain(label: str) -> str:
    """Return a label in which nothing is interpreted as Markdown."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", label)


def unavailable(reason: str, remedy: str) -> None:
    """Say why a model is not there, and show the command that mends it, where there is one."""
    if not remedy:
        notice(f"{reason} Everything else works without it.")
        return
    notice(f"{reason} Everything else works without it. To mend it, run this and start the app again:")
    st.code(remedy, language="bash")


def shapes_line(text: str) -> None:
    """Show the shapes of a step."""
    st.html(f'<div class="shapes">{html.escape(text)}</div>')


def proof_line(proofs: Sequence[tuple[str, Proof]]) -> None:
    """Show the check of our numbers against each model's own, where it never scrolls away; each line opens."""
    lines = "".join(_proof(name, proof) for name, proof in proofs)
    with st.container(key="proof"):
        st.html(f'<div role="note" aria-label="Proof">{lines}</div>')


def _proof(name: str, proof: Proof) -> str:
    mark, kind = ("✓", "good") if proof.holds else ("✗", "bad")
    head = "".join(
        f"<th>{title}</th>" for title in ("recomputed", "as", "differs by up to", "as a part of the largest")
    )
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in proof.table())
    return (
        f'<details class="proof-{kind}"><summary title="Every link of this, with its own difference">'
        f"<div>{mark} {html.escape(proof.sentence(name))}</div></summary>"
        f'<section tabindex="0"><table><tr>{head}</tr>{rows}</table>{tell_proof(name, proof)}'
        "</section></details>"
    )
