"""A text in a model's own chat template: the same tokens as transformers makes."""

import pytest
from tokenizers import processors
from transformers import AutoTokenizer

import attention
from attention.models import load
from attention.models.architectures import info_from_config

TEMPLATE = "{{ bos_token }}{% for each in messages %}[{{ each.role }}]\n{{ each.content }}</s>\n{% endfor %}"
ASKED = "{% if add_generation_prompt %}[assistant]\n{% endif %}"
TEXT = "The cat\n  sat on the mat"


@pytest.fixture
def chat_folder(folder_of, tmp_path):
    """A folder with a tiny Llama whose tokenizer adds its own first token, and has a template."""
    made = folder_of("llama")
    for file in made.iterdir():
        (tmp_path / file.name).symlink_to(file)
    tokenizer = AutoTokenizer.from_pretrained(made)
    opening = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", tokenizer.bos_token_id)])
    tokenizer.backend_tokenizer.post_processor = opening
    tokenizer.chat_template = TEMPLATE + ASKED
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).unlink()
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def test_a_chat_is_read_as_the_tokens_of_the_models_own_template(chat_folder):
    model, tokenizer = attention.load(chat_folder), AutoTokenizer.from_pretrained(chat_folder)
    trace = model.trace(model.as_chat(TEXT))
    said = [{"role": "user", "content": TEXT}]
    theirs = tokenizer.apply_chat_template(said, tokenize=True, add_generation_prompt=True)["input_ids"]
    assert [token.token_id for token in trace.tokens] == theirs
    special = [token.token_id in tokenizer.all_special_ids for token in trace.tokens]
    assert [token.is_special for token in trace.tokens] == special
    assert sum(special) == 2
    assert TEXT in trace.text


def test_the_bundled_chat_model_reads_its_template():
    model = load("smollm2-135m")
    tokens = [token.text for token in model.trace(model.as_chat("Hi")).tokens if token.is_special]
    assert tokens == ["<|im_start|>", "<|im_end|>"] * 2 + ["<|im_start|>"]


def test_a_folder_with_a_template_is_told_without_loading_it(chat_folder, folder_of):
    facts = {"name": "X", "licence": "", "source": ""}
    assert info_from_config("x", chat_folder, **facts).has_chat
    assert not info_from_config("x", folder_of("llama"), **facts).has_chat


@pytest.mark.parametrize(
    "template",
    ["{{ raise_exception('no') }}", "{{ messages[3].content }}", "{% for %}", "{{ messages[0].content + 1 }}"],
)
def test_a_template_that_fails_is_a_sentence(chat_folder, template):
    (chat_folder / "chat_template.jinja").write_text(template)
    with pytest.raises(ValueError, match="chat template of"):
        attention.load(chat_folder).as_chat(TEXT)


def test_a_model_without_a_template_says_so(folder_of):
    for model in (load("toy"), attention.load(folder_of("bert"))):
        with pytest.raises(ValueError, match="no chat template"):
            model.as_chat(TEXT)
