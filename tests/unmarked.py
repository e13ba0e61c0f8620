"""Find untranslatable texts: words of a page outside the brackets of the pseudo-language.

Words outside any language of the app (names, formulas, code, users' texts) are listed here, and nowhere else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from attention.experiments import corpus
from attention.models import bundled
from attention.models.families import TEXT_PARTS
from attention.models.hub import CURATED

__all__ = ["READ", "unmarked"]

# Reads all texts of a page, block by block, including labels for screen readers, shadow roots and frames.
READ = r"""() => {
  const SAID = ["aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "title", "alt",
    "placeholder"];
  // Code, what was typed, the names of icons, and what a browser without scripts would show. Of a formula, only its
  // words are read.
  const NO_WORDS = "script, noscript, style, template, pre, code, bdi:not(.notice bdi), [data-testid='stIconMaterial']";
  const FORMULA = ".katex, math";
  const found = [];
  const isInline = (element) => element.tagName === "tspan" || getComputedStyle(element).display.startsWith("inline");
  function read(node, block) {
    if (node.nodeType === Node.TEXT_NODE) block.push(node.data);
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.matches(FORMULA)) found.push(...wordsOf(node));
      if (node.matches(`${NO_WORDS}, ${FORMULA}`)) return;
      for (const name of SAID) if (node.hasAttribute(name)) found.push(node.getAttribute(name));
      if (node.shadowRoot) readBlock(node.shadowRoot);
      if (node.contentDocument?.body) readBlock(node.contentDocument.body);
    }
    for (const child of node.childNodes) {
      if (child.nodeType !== Node.ELEMENT_NODE || isInline(child)) read(child, block);
      else readBlock(child);
    }
  }
  function wordsOf(formula) {
    const latex = formula.querySelector("annotation")?.textContent;
    if (latex === undefined) return [...formula.querySelectorAll("mtext")].map((words) => words.textContent);
    return [...latex.matchAll(/\\text\{([^{}]*)\}/g)].map((words) => words[1]);
  }
  function readBlock(node) {
    const block = [];
    read(node, block);
    found.push(block.join(""));
  }
  found.push(document.title);
  readBlock(document.body);
  return found;
}"""

# A text in brackets, whose end may be missing if a label was shortened.
_MARKED = re.compile("【[^【】]*(?:】|…)")
_WORD = re.compile("[A-Za-z]{2,}")
_ASSETS = Path(__file__).parents[1] / "assets"

# Whole texts that users choose, and Streamlit's own, which are always English.
_EXAMPLES = [
    line
    for name in ("examples.txt", "examples-french.txt", "pairs.txt", "comparisons.txt")
    for line in (_ASSETS / name).read_text("utf-8").splitlines()
] + [sentence.text for sentence in corpus.annotated()]
_STREAMLIT = re.compile(
    r"Skip to main content|Main menu|Open|Choose an option|Help for .*|Copy to clipboard|"
    r"Show/hide columns|Download as CSV|Search|Fullscreen|file upload|Upload|\d+MB per file|"
    # Marks that the page sends but does not show.
    r"drawn_(before|below|after)"
)
_ARCHITECTURES = [
    each["name"]
    for each in tomllib.loads((_ASSETS / "architectures.toml").read_text("utf-8"))["architectures"].values()
]
# Parts of texts that are the same in every language.
_NAMES = re.compile(
    "|".join(
        [
            # Models, sources, licences and checksums.
            r"\bBERT-base\b",
            *sorted(map(re.escape, {info.name for info in bundled.infos()}), reverse=True),
            *(re.escape(each.model_id) for each in CURATED),
            *(re.escape(each.architecture) for each in CURATED),
            *sorted((re.escape(each.name) for each in TEXT_PARTS.values()), reverse=True),
            # Before "encoder" or "decoder"; the longest first, as "BERT" stands in "XLM-RoBERTa", too.
            *(rf"\b{re.escape(name)}(?!\w)" for name in sorted(_ARCHITECTURES, key=len, reverse=True)),
            r"sentence-transformers/all-MiniLM-L6-v2|HuggingFaceTB/SmolLM2-135M-Instruct|SHA-256|[0-9a-f]{12,}",
            r"SmolLM2 135M|Llama 3 8B|GPT-3 175B|Apache-2\.0|MIT|NumPy|PyTorch",
            # Papers.
            r"[A-Z]\w+ et al\. \d{4}",
            # Files and commands.
            r"[\w/.-]+\.(csv|npz|html|svg|py)\b|make train",
            # Special tokens.
            r"\[[A-Z]{3,4}(\]|…)",
            # Formulas, and numbers in code.
            r"softmax\(|turn\(|LayerNorm|RMSNorm|joined·W_O|W[QKVO]\b|b[QKVO]\b|\b(cos|sin|ln|exp)\b|-inf\b",
            r"\b[KMG]i?B\b|\d [mµ]s\b|\\x[0-9a-f]{2}",
        ]
    )
)


def _is_example(text: str) -> bool:
    """Tell whether a text consists of parts of one example."""
    parts = [part.strip() for part in re.split(r"[|…]", text)]
    return any(all(part in example for part in parts) for example in _EXAMPLES if parts[0])


def unmarked(texts: Iterable[str], data: Collection[str] = ()) -> list[str]:
    """Return the distinct texts with words outside brackets; words of ``data`` are allowed."""
    known = re.compile(
        "|".join(rf"(?<!\w){re.escape(word)}(?!\w|\.\w)" for word in sorted(data, key=len, reverse=True))
    )
    found = []
    for text in map(str.strip, texts):
        rest = _MARKED.sub("…", text)
        if _STREAMLIT.fullmatch(rest):
            continue
        rest = _NAMES.sub("", known.sub("", rest) if data else rest)
        # Search the thousands of examples only for the few texts that have a word left.
        if _WORD.search(rest) and not _is_example(text):
            found.append(re.sub(r"\s+", " ", _MARKED.sub("…", text)))
    return list(dict.fromkeys(found))
