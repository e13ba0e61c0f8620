"""A lesson plan's notes on paper: the sentence, a script, the question and the answer for each stage."""

from __future__ import annotations

from html import escape

from attention.classroom.drawing import guess_of, ready_of, sentences_of
from attention.classroom.submission import solution
from attention.core.messages import message, messages
from attention.figures.format import percents
from attention.lesson.plans import Part, Plan, under_heading
from attention.lesson.prose import lesson, typed
from attention.lesson.questions import ready
from attention.lesson.quiz import Guess
from attention.lesson.tasks import task_of
from attention.page.page_file import html_head, plain

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
body { max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; background: var(--st-background-color);
  color: var(--st-text-color); font: 1rem/1.45 "Source Sans", system-ui, sans-serif; }
section { break-inside: avoid; }
h2 { margin: 1rem 0 0.2rem; font-size: 1.05rem; }
h2 span { font-weight: 400; opacity: 0.8; }
p { margin: 0.2rem 0; }
.answer { padding-left: 0.7rem; border-left: 3px solid currentColor; }
@page { size: A4; margin: 12mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 8.5pt; line-height: 1.3; columns: 2; column-gap: 8mm; }
  h1 { column-span: all; margin: 0 0 2mm; font-size: 13pt; }
  h2 { margin: 2mm 0 0.5mm; font-size: 9.5pt; }
}
"""


def notes(plan: Plan) -> str:
    """Return a page (HTML) with all stages of a plan and the answers to their questions; it fits two sheets of A4."""
    title = messages("Lesson plan, {n} minute", "Lesson plan, {n} minutes", plan.minutes)
    begins = [sum(part.minutes for part in plan.parts[:place]) for place in range(len(plan.parts))]
    stages = "\n".join(_stage(part, begin) for part, begin in zip(plan.parts, begins, strict=True))
    return f"""{html_head(title, _STYLE)}<body>
<main>
<h1>{plain(title)}</h1>
{stages}
</main>
</body>
</html>
"""


def _stage(part: Part, begin: int) -> str:
    when = plain(message("Minute {first} to {last}", first=begin, last=begin + part.minutes))
    title, words = under_heading(lesson(part.words))
    sentences = "".join(f"<p>“{typed(text)}”</p>" for text in sentences_of(part.page, part.link))
    return f"<section><h2>{title} <span>{when}</span></h2>{sentences}{words}{_asked(part)}</section>"


def _asked(part: Part) -> str:
    """Return the stage's question with its answer, or its task."""
    if part.act == "find":
        task = task_of(part.subject)
        if task is None:
            return ""
        found = solution(task, task.start() | {"text": sentences_of(part.page, part.link)[0]})
        return f'<div class="answer">{escape(task.title)}{"" if found is None else found.told}</div>'
    if part.act != "ask":
        return ""
    question = ready(part.subject)
    guess = guess_of(part.page, part.link) if question is None else ready_of(part.page, part.link, question)
    return "" if guess is None else f'<div class="answer">{guess.question}<p>{_answer(guess)}</p>{guess.reason}</div>'


def _answer(guess: Guess) -> str:
    if guess.shares:
        shares = percents(guess.shares)
        return " · ".join(f"{typed(name)} {said}" for name, said in zip(guess.answers, shares, strict=True))
    return " · ".join(f"<strong>{typed(guess.answers[index])}</strong>" for index in sorted(guess.right))
