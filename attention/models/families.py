"""The known architectures by the ``model_type`` in a model's config.json.

Names are those of transformers' modules and configurations, and of the weight files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from attention.core.messages import message
from attention.core.reading import PICTURE
from attention.models.module_map import Architecture, Attention, FeedForward, Sizes, Stack, TextPart

_BERT = Stack(
    layers="encoder.layer",
    attention=Attention(
        query="attention.self.query",
        key="attention.self.key",
        value="attention.self.value",
        output="attention.output.dense",
        norm_after="attention.output.LayerNorm",
    ),
    feed_forward=FeedForward(("intermediate.dense",), "output.dense", norm_after="output.LayerNorm"),
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    segments="embeddings.token_type_embeddings",
    norm="embeddings.LayerNorm",
)
_ROBERTA = replace(_BERT, has_padding_position=True)
_DISTILBERT = Stack(
    layers="transformer.layer",
    attention=Attention(
        "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", norm_after="sa_layer_norm"
    ),
    feed_forward=FeedForward(("ffn.lin1",), "ffn.lin2", norm_after="output_layer_norm"),
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    norm="embeddings.LayerNorm",
)
_GPT2 = Stack(
    layers="h",
    attention=Attention("attn.c_attn", "attn.c_attn", "attn.c_attn", "attn.c_proj", norm="ln_1"),
    feed_forward=FeedForward(("mlp.c_fc",), "mlp.c_proj", norm="ln_2"),
    words="wte",
    positions="wpe",
    final_norm="ln_f",
    is_causal=True,
)
_LLAMA = Stack(
    layers="layers",
    attention=Attention(
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", norm="input_layernorm"
    ),
    feed_forward=FeedForward(("mlp.up_proj",), "mlp.down_proj", gate="mlp.gate_proj", norm="post_attention_layernorm"),
    words="embed_tokens",
    final_norm="norm",
    is_rotary=True,
    is_causal=True,
)
# Models that make their own masks, such as those with a sliding window.
_QWEN2 = replace(_LLAMA, has_own_masks=True)
_QWEN3 = replace(
    _QWEN2,
    attention=replace(_LLAMA.attention, query_norm="self_attn.q_norm", key_norm="self_attn.k_norm"),
)
# Gemma normalises the inputs of attention and feed-forward network, and their outputs before they are added.
_GEMMA2 = replace(
    _QWEN2,
    attention=replace(_LLAMA.attention, output_norm="post_attention_layernorm"),
    feed_forward=replace(
        _LLAMA.feed_forward, norm="pre_feedforward_layernorm", output_norm="post_feedforward_layernorm"
    ),
)
_GEMMA3 = replace(
    _GEMMA2,
    attention=replace(_GEMMA2.attention, query_norm="self_attn.q_norm", key_norm="self_attn.k_norm"),
)
_PHI3 = replace(
    _QWEN2,
    attention=Attention(
        "self_attn.qkv_proj", "self_attn.qkv_proj", "self_attn.qkv_proj", "self_attn.o_proj", norm="input_layernorm"
    ),
    feed_forward=FeedForward(("mlp.gate_up_proj",), "mlp.down_proj", has_gate=True, norm="post_attention_layernorm"),
)
_GPT_NEOX = Stack(
    layers="layers",
    attention=Attention(
        "attention.query_key_value",
        "attention.query_key_value",
        "attention.query_key_value",
        "attention.dense",
        norm="input_layernorm",
        is_by_head=True,
    ),
    feed_forward=FeedForward(("mlp.dense_h_to_4h",), "mlp.dense_4h_to_h", norm="post_attention_layernorm"),
    words="embed_in",
    final_norm="final_layer_norm",
    is_rotary=True,
    is_causal=True,
    has_own_masks=True,
    is_parallel=True,
)
_OPT = Stack(
    root="decoder",
    layers="layers",
    attention=Attention(
        "self_attn.q_proj",
        "self_attn.k_proj",
        "self_attn.v_proj",
        "self_attn.out_proj",
        norm="self_attn_layer_norm",
        scales_queries=True,
    ),
    feed_forward=FeedForward(("fc1",), "fc2", norm="final_layer_norm"),
    words="embed_tokens",
    word_projection="project_in",
    last_projection="project_out",
    positions="embed_positions",
    first_position=2,
    final_norm="final_layer_norm",
    is_causal=True,
    has_own_masks=True,
)
# As in the model of 350 million parameters: norms after the sums, and none at the end.
_OPT_AFTER = replace(
    _OPT,
    attention=replace(_OPT.attention, norm=None, norm_after="self_attn_layer_norm"),
    feed_forward=replace(_OPT.feed_forward, norm=None, norm_after="final_layer_norm"),
)
_BLOOM = Stack(
    layers="h",
    attention=Attention(
        "self_attention.query_key_value",
        "self_attention.query_key_value",
        "self_attention.query_key_value",
        "self_attention.dense",
        norm="input_layernorm",
        is_by_head=True,
    ),
    feed_forward=FeedForward(("mlp.dense_h_to_4h",), "mlp.dense_4h_to_h", norm="post_attention_layernorm"),
    words="word_embeddings",
    norm="word_embeddings_layernorm",
    final_norm="ln_f",
    is_causal=True,
    has_own_masks=True,
)
_ELECTRA = replace(_BERT, projection="embeddings_project")
_ALBERT = replace(
    _BERT,
    layers="encoder.albert_layer_groups",
    shared="albert_layers",
    attention=Attention(
        "attention.query", "attention.key", "attention.value", "attention.dense", norm_after="attention.LayerNorm"
    ),
    feed_forward=FeedForward(("ffn",), "ffn_output", norm_after="full_layer_layer_norm"),
    projection="encoder.embedding_hidden_mapping_in",
)
_MPNET = replace(
    _BERT,
    attention=Attention(
        "attention.attn.q",
        "attention.attn.k",
        "attention.attn.v",
        "attention.attn.o",
        norm_after="attention.LayerNorm",
    ),
    segments=None,
    has_padding_position=True,
)
_MODERNBERT = Stack(
    layers="layers",
    # The first layer has no norm there, since the embeddings have one.
    attention=Attention("attn.Wqkv", "attn.Wqkv", "attn.Wqkv", "attn.Wo", norm="attn_norm"),
    feed_forward=FeedForward(("mlp.Wi",), "mlp.Wo", has_gate=True, norm="mlp_norm"),
    words="embeddings.tok_embeddings",
    norm="embeddings.norm",
    end_norm="final_norm",
    is_rotary=True,
    has_own_masks=True,
)
_VIT = Stack(
    layers="layers",
    attention=Attention(
        "attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj", norm="layernorm_before"
    ),
    feed_forward=FeedForward(("mlp.fc1",), "mlp.fc2", norm="layernorm_after"),
    words="embeddings.patch_embeddings",
    positions="embeddings.position_embeddings",
    end_norm="layernorm",
)
_MARIAN_ENCODER = Stack(
    root="encoder",
    layers="layers",
    attention=Attention(
        "self_attn.q_proj",
        "self_attn.k_proj",
        "self_attn.v_proj",
        "self_attn.out_proj",
        norm_after="self_attn_layer_norm",
    ),
    feed_forward=FeedForward(("fc1",), "fc2", norm_after="final_layer_norm"),
    words="embed_tokens",
    positions="embed_positions",
)
_MARIAN_CROSS = Attention(
    "encoder_attn.q_proj",
    "encoder_attn.k_proj",
    "encoder_attn.v_proj",
    "encoder_attn.out_proj",
    norm_after="encoder_attn_layer_norm",
)
_MARIAN_DECODER = replace(_MARIAN_ENCODER, root="decoder", cross=_MARIAN_CROSS, is_causal=True)
# BART leaves the first two rows of its position table unused.
_BART_ENCODER = replace(_MARIAN_ENCODER, first_position=2, norm="layernorm_embedding")
_BART_DECODER = replace(_MARIAN_DECODER, first_position=2, norm="layernorm_embedding")
# Pegasus normalises the inputs of attention and feed-forward network, and the last layer's output.
_PEGASUS_ENCODER = replace(
    _MARIAN_ENCODER,
    attention=replace(_MARIAN_ENCODER.attention, norm="self_attn_layer_norm", norm_after=None),
    feed_forward=replace(_MARIAN_ENCODER.feed_forward, norm="final_layer_norm", norm_after=None),
    end_norm="layer_norm",
)
_PEGASUS_DECODER = replace(
    _PEGASUS_ENCODER,
    root="decoder",
    cross=replace(_MARIAN_CROSS, norm="encoder_attn_layer_norm", norm_after=None),
    is_causal=True,
)
_MBART_ENCODER = replace(_PEGASUS_ENCODER, first_position=2, norm="layernorm_embedding")
_MBART_DECODER = replace(_PEGASUS_DECODER, first_position=2, norm="layernorm_embedding")
_M2M_100_ENCODER = replace(_PEGASUS_ENCODER, has_padding_position=True)
_M2M_100_DECODER = replace(_PEGASUS_DECODER, has_padding_position=True)
_BLENDERBOT_SMALL_ENCODER = replace(_MARIAN_ENCODER, norm="layernorm_embedding")
_BLENDERBOT_SMALL_DECODER = replace(_MARIAN_DECODER, word_norm="layernorm_embedding")
_T5_ENCODER = Stack(
    root="encoder",
    layers="block",
    attention=Attention(
        "layer.0.SelfAttention.q",
        "layer.0.SelfAttention.k",
        "layer.0.SelfAttention.v",
        "layer.0.SelfAttention.o",
        norm="layer.0.layer_norm",
    ),
    feed_forward=FeedForward(
        ("layer.1.DenseReluDense.wi", "layer.1.DenseReluDense.wi_1"),
        "layer.1.DenseReluDense.wo",
        gate="layer.1.DenseReluDense.wi_0",
        norm="layer.1.layer_norm",
    ),
    words="embed_tokens",
    end_norm="final_layer_norm",
)
_T5_DECODER = replace(
    _T5_ENCODER,
    root="decoder",
    cross=Attention(
        "layer.1.EncDecAttention.q",
        "layer.1.EncDecAttention.k",
        "layer.1.EncDecAttention.v",
        "layer.1.EncDecAttention.o",
        norm="layer.1.layer_norm",
    ),
    feed_forward=FeedForward(
        ("layer.2.DenseReluDense.wi", "layer.2.DenseReluDense.wi_1"),
        "layer.2.DenseReluDense.wo",
        gate="layer.2.DenseReluDense.wi_0",
        norm="layer.2.layer_norm",
    ),
    is_causal=True,
)
_BART_SIZES = Sizes(
    layers=("encoder_layers",),
    heads=("encoder_attention_heads",),
    width=("d_model",),
    decoder_layers=("decoder_layers",),
    inner=("encoder_ffn_dim",),
    decoder_inner=("decoder_ffn_dim",),
)
_T5_SIZES = Sizes(
    layers=("num_layers",),
    heads=("num_heads",),
    width=("d_model",),
    head_width=("d_kv",),
    # T5 has only relative positions and accepts any number of tokens.
    positions=(),
    decoder_layers=("num_decoder_layers", "num_layers"),
    inner=("d_ff",),
    decoder_inner=("d_ff",),
)

# Notes on models that add to their scores after scaling, or scale something else.
_ADDS_AFTER = message("It adds its position bias after dividing by √d_k. Here √d_k times the bias is added before.")
_DIVIDES_QUERIES = message("It divides its queries by √d_k instead of its scores; the result is the same.")
_READS_MORE = message("Only its text part is loaded and counted here.")
_NORMALISES_WORDS = message("Its decoder normalises token embeddings before adding positional encodings.")

# Keys that contradict an architecture's name: with one of the first, transformers lets most decoders see later tokens;
# the second makes most encoders hide them.
AS_ENCODER = (("is_causal", False), ("use_bidirectional_attention", True))
AS_DECODER = (("is_decoder", True),)

ARCHITECTURES = {
    "bert": Architecture(message("BERT encoder"), _BERT, takes_pairs=True, takes_segments=True),
    "roberta": Architecture(message("RoBERTa encoder"), _ROBERTA, takes_pairs=True),
    "xlm-roberta": Architecture(message("XLM-RoBERTa encoder"), _ROBERTA, takes_pairs=True),
    "electra": Architecture(
        message("ELECTRA encoder"),
        _ELECTRA,
        sizes=Sizes(embedding=("embedding_size",)),
        takes_pairs=True,
        takes_segments=True,
    ),
    "albert": Architecture(
        message("ALBERT encoder"),
        _ALBERT,
        sizes=Sizes(embedding=("embedding_size",), groups=("num_hidden_groups",)),
        takes_pairs=True,
        takes_segments=True,
    ),
    "mpnet": Architecture(
        message("MPNet encoder"), _MPNET, takes_pairs=True, note=_ADDS_AFTER, own_attention="MPNetSelfAttention"
    ),
    "modernbert": Architecture(message("ModernBERT encoder"), _MODERNBERT, takes_pairs=True),
    "distilbert": Architecture(
        message("DistilBERT encoder"),
        _DISTILBERT,
        sizes=Sizes(layers=("n_layers",), heads=("n_heads",), width=("dim",), inner=("hidden_dim",)),
        takes_pairs=True,
    ),
    "gpt2": Architecture(
        message("GPT-2 decoder"),
        _GPT2,
        sizes=Sizes(
            layers=("n_layer",), heads=("n_head",), width=("n_embd",), positions=("n_positions",), inner=("n_inner",)
        ),
    ),
    "llama": Architecture(message("Llama decoder"), _LLAMA),
    "mistral": Architecture(message("Mistral decoder"), _QWEN2),
    "qwen2": Architecture(message("Qwen2 decoder"), _QWEN2),
    "qwen3": Architecture(message("Qwen3 decoder"), _QWEN3),
    "gemma2": Architecture(message("Gemma 2 decoder"), _GEMMA2),
    "gemma3_text": Architecture(message("Gemma 3 decoder"), _GEMMA3),
    "phi3": Architecture(message("Phi-3 decoder"), _PHI3),
    "gpt_neox": Architecture(
        message("GPT-NeoX decoder"),
        _GPT_NEOX,
        variants=(("use_parallel_residual", False, replace(_GPT_NEOX, is_parallel=False)),),
    ),
    "opt": Architecture(
        message("OPT decoder"),
        _OPT,
        sizes=Sizes(inner=("ffn_dim",), embedding=("word_embed_proj_dim",)),
        variants=(("do_layer_norm_before", False, _OPT_AFTER),),
        note=_DIVIDES_QUERIES,
    ),
    "bloom": Architecture(
        message("BLOOM decoder"),
        _BLOOM,
        sizes=Sizes(
            layers=("n_layer", "num_hidden_layers"),
            heads=("n_head", "num_attention_heads"),
            width=("hidden_size", "n_embed"),
            # Only relative positions: any number of tokens is accepted.
            positions=(),
            inner=(),
        ),
        refused=(("apply_residual_connection_post_layernorm", True), ("slow_but_exact", True)),
        note=_ADDS_AFTER,
        own_attention="BloomAttention",
    ),
    "bart": Architecture(message("BART encoder–decoder"), _BART_ENCODER, _BART_DECODER, _BART_SIZES),
    "marian": Architecture(message("Marian encoder–decoder"), _MARIAN_ENCODER, _MARIAN_DECODER, _BART_SIZES),
    "plbart": Architecture(message("PLBart encoder–decoder"), _BART_ENCODER, _BART_DECODER, _BART_SIZES),
    "pegasus": Architecture(message("Pegasus encoder–decoder"), _PEGASUS_ENCODER, _PEGASUS_DECODER, _BART_SIZES),
    "mbart": Architecture(message("mBART encoder–decoder"), _MBART_ENCODER, _MBART_DECODER, _BART_SIZES),
    "m2m_100": Architecture(message("M2M-100 encoder–decoder"), _M2M_100_ENCODER, _M2M_100_DECODER, _BART_SIZES),
    # Its layers are those of Pegasus, and its positions are learnt.
    "blenderbot": Architecture(message("Blenderbot encoder–decoder"), _PEGASUS_ENCODER, _PEGASUS_DECODER, _BART_SIZES),
    "blenderbot-small": Architecture(
        message("Blenderbot-small encoder–decoder"),
        _BLENDERBOT_SMALL_ENCODER,
        _BLENDERBOT_SMALL_DECODER,
        _BART_SIZES,
        note=_NORMALISES_WORDS,
    ),
    "t5": Architecture(message("T5 encoder–decoder"), _T5_ENCODER, _T5_DECODER, _T5_SIZES),
    "mt5": Architecture(message("mT5 encoder–decoder"), _T5_ENCODER, _T5_DECODER, _T5_SIZES),
    # Every layer has its own table of distances.
    "umt5": Architecture(message("umT5 encoder–decoder"), _T5_ENCODER, _T5_DECODER, _T5_SIZES),
    "vit": Architecture(message("Vision Transformer (ViT)"), _VIT, reading=PICTURE),
}

# The prefix in older Qwen models with pictures.
_OF_ALL = r"^model\.(?!visual\.)(?:language_model\.)?"

# Multimodal models by ``model_type``; the text part's configuration names its architecture.
TEXT_PARTS: Mapping[str, TextPart] = MappingProxyType(
    {
        "gemma3": TextPart(
            "Gemma 3",
            "gemma3_text",
            _READS_MORE,
            # The smallest one's configuration leaves these out.
            defaults={
                "vocab_size": 262_208,
                "num_attention_heads": 8,
                "num_key_value_heads": 4,
                "head_dim": 256,
                "max_position_embeddings": 131_072,
            },
        ),
        "mistral3": TextPart("Mistral 3", "mistral", _READS_MORE),
        "llava": TextPart("LLaVA", "llama", _READS_MORE),
        "llava_next": TextPart("LLaVA-NeXT", "llama", _READS_MORE),
        "idefics3": TextPart("Idefics3", "llama", _READS_MORE),
        "smolvlm": TextPart("SmolVLM", "llama", _READS_MORE),
        "internvl": TextPart("InternVL", "qwen2", _READS_MORE),
        "aya_vision": TextPart("Aya Vision", "cohere2", _READS_MORE),
        "qwen2_vl": TextPart("Qwen2-VL", "qwen2_vl_text", _READS_MORE, _OF_ALL),
        "qwen2_5_vl": TextPart("Qwen2.5-VL", "qwen2_5_vl_text", _READS_MORE, _OF_ALL),
        "qwen3_vl": TextPart("Qwen3-VL", "qwen3_vl_text", _READS_MORE),
        "qwen2_audio": TextPart("Qwen2-Audio", "qwen2", _READS_MORE),
        "voxtral": TextPart("Voxtral", "llama", _READS_MORE),
    }
)
