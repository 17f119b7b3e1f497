"""A GGUF of under a megabyte whose text and drafts are known by construction, with an MTP block of its own.

Each token is followed by the next letter of the alphabet: attention and MLP add nothing, the hidden state is the
token's embedding, and the output layer looks up the successor. The MTP block looks it up in a head of its own, which
is wrong after the letters in `misses`. So the text, the verify steps and the accepted drafts of any length are known.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy

WIDTH = 256
LETTERS = "abcdefghijklmnopqrstuvwxyz"
START, END = "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>z' }}{% endif %}"
)
ARCHITECTURE = "qwen35"


def byte_characters() -> list[str]:
    """GPT-2's printable stand-ins for the 256 bytes, in order of the bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    shifted = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(shifted)) for byte in range(256)]


def successor(letter: str) -> str:
    return LETTERS[(LETTERS.index(letter) + 1) % len(LETTERS)]


def text(count: int) -> str:
    """The first `count` ids of any answer."""
    return "".join(LETTERS[index % len(LETTERS)] for index in range(count))


def write(path: Path, misses: str = "", stop_after: str = "", context: int = 2048) -> Path:
    """`misses`: letters after which the MTP block drafts a wrong one. `stop_after`: the letter that ends an answer.
    `context`: what the model was made for, tokens."""
    tokens = [*byte_characters(), START, END]
    random = numpy.random.default_rng(7)
    embedding = random.standard_normal((len(tokens), WIDTH)).astype(numpy.float32)
    number = {token: index for index, token in enumerate(tokens)}
    head, draft = numpy.zeros_like(embedding), numpy.zeros_like(embedding)
    for letter in LETTERS:
        after = END if letter == stop_after else successor(letter)
        head[number[after]] += embedding[number[letter]]
        wrong = number[successor(successor(letter))]
        draft[wrong if letter in misses else number[after]] += embedding[number[letter]]

    writer = gguf.GGUFWriter(path, ARCHITECTURE)
    writer.add_name("Oracle")
    writer.add_block_count(3)
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_key_length(32)
    writer.add_value_length(32)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(32)
    writer.add_rope_dimension_sections([8, 8, 0, 0])
    writer.add_rope_freq_base(10000.0)
    writer.add_ssm_conv_kernel(4)
    writer.add_ssm_inner_size(64)
    writer.add_ssm_state_size(32)
    writer.add_ssm_time_step_rank(2)
    writer.add_ssm_group_count(2)
    writer.add_uint32(f"{ARCHITECTURE}.full_attention_interval", 2)  # block 0 is recurrent
    writer.add_uint32(f"{ARCHITECTURE}.nextn_predict_layers", 1)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL] * 2)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(number[END])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)

    def add(name: str, *shape: int, fill: float = 0.0) -> None:
        writer.add_tensor(name, numpy.full(shape, fill, dtype=numpy.float32))

    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", head)
    add("output_norm.weight", WIDTH, fill=1)
    for block in range(3):
        prefix = f"blk.{block}."
        add(prefix + "attn_norm.weight", WIDTH, fill=1)
        add(prefix + "post_attention_norm.weight", WIDTH, fill=1)
        if block == 0:
            add(prefix + "attn_qkv.weight", 3 * 64, WIDTH)
            add(prefix + "attn_gate.weight", 64, WIDTH)
            add(prefix + "ssm_conv1d.weight", 3 * 64, 4)
            add(prefix + "ssm_dt.bias", 2)
            add(prefix + "ssm_a", 2)
            add(prefix + "ssm_beta.weight", 2, WIDTH)
            add(prefix + "ssm_alpha.weight", 2, WIDTH)
            add(prefix + "ssm_norm.weight", 32, fill=1)
            add(prefix + "ssm_out.weight", WIDTH, 64)
        else:
            add(prefix + "attn_q.weight", 2 * 32 * 2, WIDTH)
            add(prefix + "attn_k.weight", 32, WIDTH)
            add(prefix + "attn_v.weight", 32, WIDTH)
            add(prefix + "attn_output.weight", WIDTH, 2 * 32)
            add(prefix + "attn_q_norm.weight", 32, fill=1)
            add(prefix + "attn_k_norm.weight", 32, fill=1)
        add(prefix + "ffn_gate.weight", 32, WIDTH)
        add(prefix + "ffn_up.weight", 32, WIDTH)
        add(prefix + "ffn_down.weight", WIDTH, 32)
    both = numpy.zeros((WIDTH, 2 * WIDTH), dtype=numpy.float32)
    both[:, :WIDTH] = numpy.eye(WIDTH)  # of (embedding, hidden) the embedding
    writer.add_tensor("blk.2.nextn.eh_proj.weight", both)
    add("blk.2.nextn.enorm.weight", WIDTH, fill=1)
    add("blk.2.nextn.hnorm.weight", WIDTH, fill=1)
    add("blk.2.nextn.shared_head_norm.weight", WIDTH, fill=1)
    writer.add_tensor("blk.2.nextn.shared_head_head.weight", draft)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
