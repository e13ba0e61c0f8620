"""The reference of recorded runs: transformers' own plain attention, without the recorder."""

import torch

from attention.core import pixels, reading


def ids_of(trace):
    return torch.tensor([[token.token_id for token in trace.tokens]])


@torch.inference_mode()
def run_eager(model, trace, mask=None):
    """Run a reference on the tokens of a trace; its mask is one of transformers' own kinds, or additive."""
    inputs = {"attention_mask": mask, "output_attentions": True, "output_hidden_states": True}
    if trace.info.reading is reading.PICTURE:
        # By hand: 0 to 16 become -1 to 1.
        levels = torch.from_numpy(pixels.parse(trace.text)) / 8 - 1
        return model(pixel_values=levels[None, None], **inputs)
    if model.config.model_type in ("bert", "electra", "albert"):
        inputs["token_type_ids"] = torch.tensor([[token.segment for token in trace.tokens]])
    if model.config.model_type == "opt":
        inputs["position_ids"] = torch.arange(len(trace.tokens))[None]
    return model(input_ids=ids_of(trace), **inputs)
