"""A kind of attention, and a model's structure, are one object each, of one piece."""

from dataclasses import replace

import pytest

from attention.core.kinds import CROSS, DECODER, ENCODER, ENCODER_DECODER, SELF, WRITTEN
from attention.core.masks import MASK_NAMES
from attention.core.trace import PARTS
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lessons
from attention.lesson.steps import keys, step_of
from attention.models import load
from attention.models.toy import TOY_INFO

BUILDS = {"encoder": ENCODER, "decoder": DECODER, "encoder–decoder": ENCODER_DECODER}
USES = {"self": SELF, "written": WRITTEN, "cross": CROSS}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_what_a_use_names_is_there(use):
    of_steps = [*use.formulas, *use.lessons, *use.asides]
    assert set(of_steps) <= set(keys())
    names = [use.hides_later, *use.lessons.values(), *use.asides.values()]
    names += [name for pair in use.variants.items() for name in pair]
    assert set(filter(None, names)) <= set(lessons())
    assert 1 <= len(use.sides) <= 2
    assert len({side.name for side in use.sides}) == len(use.sides)


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_what_a_build_names_is_there(build):
    assert tuple(build.mask_names) == MASK_NAMES
    assert len(set(build.mask_names.values())) == len(MASK_NAMES)
    names = (build.hides_later, build.of_heads, build.of_changes)
    assert set(filter(None, names)) <= set(lessons())
    assert build.second.placeholder.format(model="X")


def test_a_model_is_built_as_its_sizes_say():
    assert TOY_INFO.build is ENCODER
    assert replace(TOY_INFO, is_decoder=True).build is DECODER
    both = replace(TOY_INFO, n_decoder_layers=2)
    assert both.build is ENCODER_DECODER
    assert [both.part_or_whole(part) for part in PARTS] == list(PARTS)
    assert [TOY_INFO.part_or_whole(part) for part in PARTS] == ["encoder"] * 3


@pytest.mark.parametrize("mask", MASK_NAMES)
def test_what_is_read_is_never_told_as_what_is_written(mask):
    """Also where a mask hides from what is read all that comes later, as the decoder does by itself."""
    whole = load("translator-fr-en").trace("le petit chat noir dort", mask=mask)
    assert [whole.part(part).use for part in PARTS] == [SELF, WRITTEN, CROSS]
    told = [step_of("tokens").words(HeadContext(whole.part(part), 0, 0, 1)) for part in PARTS]
    chosen = "which it did not choose itself"
    assert [chosen in text for text in told] == [False, True, False]
    hidden = [step_of("mask").words(HeadContext(whole.part(part), 0, 0, 1)) for part in PARTS]
    assert len(set(hidden)) == len(PARTS)
