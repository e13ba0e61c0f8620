"""A pseudo-language in which every text is English in brackets: text without brackets was not translatable."""

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from attention.core.messages import LANGUAGES
from attention.lesson.prose import LESSONS

FORMS = ("one", "few", "many")


# Placeholders of messages and lessons.
PLACE = re.compile(r"\{\w+\}|\$\w+|\$\{\w+\}")


def marked(text: str) -> str:
    """Put brackets around a text, except for its placeholders, whose contents need their own."""
    return f"【{PLACE.sub(lambda place: f'】{place[0]}【', text)}】".replace("【】", "")


def write_language(folder: Path) -> Path:
    """Write the language, with three plural forms, and return its folder."""
    (folder / "lessons").mkdir(parents=True)
    with (LANGUAGES / "messages.pot").open("rb") as file:
        template = read_po(file)
    # Czech has three plural forms.
    catalogue = Catalog(locale="cs")
    for entry in template:
        if isinstance(entry.id, tuple):
            one, many = entry.id
            forms = zip((one, many, many), FORMS, strict=True)
            catalogue.add(entry.id, tuple(marked(f"{text}: {form}") for text, form in forms))
        elif entry.id:
            catalogue.add(entry.id, marked(entry.id))
    with (folder / "messages.po").open("wb") as file:
        write_po(file, catalogue)
    for path in LESSONS.glob("*.md"):
        blocks = path.read_text("utf-8").split("\n\n")
        texts = [block if block.startswith("## ") else marked(block.strip()) for block in blocks]
        (folder / "lessons" / path.name).write_text("\n\n".join(texts) + "\n", "utf-8")
    return folder
