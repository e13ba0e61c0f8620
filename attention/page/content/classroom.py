"""The page for a class: how to open and join a room, and lesson plans with links to their views."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl

from attention.core.messages import message, messages
from attention.lesson.plans import Part, Plan, plans, under_heading
from attention.lesson.prose import lesson
from attention.lesson.steps import weighted_sum
from attention.page.blocks import Block, Blocks, Fold, Heading, Notice, Prose, Section, Setting, Way
from attention.page.content.pane import Pane
from attention.page.content.sentence import sentence
from attention.page.pages import BY_ADDRESS
from attention.page.settings import PLAN
from attention.page.view import View


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return a sentence's arcs, the chosen plan, and the functions of a room; on a ``whole`` page, all plans."""
    shown = [plan for plan in plans() if whole or plan.name == view[PLAN]]
    return (
        Heading(message("A room for your class")),
        Prose(lesson("classroom/room")),
        *(block for pane in panes[:1] for block in sentence(weighted_sum.STEP, pane)),
        Heading(message("Lesson plans")),
        _choice(view),
        *(() if whole else (Prose(lesson("classroom/notes", plan=view[PLAN])),)),
        *(block for plan in shown for block in _plan(plan)),
        Heading(message("What a room can do")),
        Prose(lesson("classroom/more")),
    )


def _choice(view: View) -> Block:
    options = {plan.name: messages("{n} minute", "{n} minutes", plan.minutes) for plan in plans()}
    return Section("plans", (Setting(PLAN, message("Length"), view[PLAN], options),), is_line=True)


def _plan(plan: Plan) -> Blocks:
    return (Prose(lesson(plan.words)), *(_part(plan, place, part) for place, part in enumerate(plan.parts)))


def _part(plan: Plan, place: int, part: Part) -> Block:
    before = sum(each.minutes for each in plan.parts[:place])
    when = message("Minute {first} to {last}", first=before, last=before + part.minutes)
    page = BY_ADDRESS[part.page]
    query = dict(parse_qsl(part.link))
    way = Way(f"{plan.name}-{part.name}", message("Open this view ▸"), page, query)
    title, words = under_heading(lesson(part.words))
    # Folded, as they may answer: a class sees this page first where its teacher's is the only screen.
    notes = Fold(f"notes_{plan.minutes}_{place}", message("Notes"), (Prose(words),))
    shown = (Notice(when, is_quiet=True), Prose(f"<h3>{title}</h3>"), notes, way)
    return Section(f"plan_{part.name}", shown, is_framed=True)
