"""Writes the oracle: a checkpoint in Ling 3.0's published layout whose text and accept length are known.

Attention adds exactly zero to the residual stream, so the state of a token is its code, and the head's row of f(t)
reads it: the model says f(t), whatever the context. What is proven by the text, and by the accept length:
the dense, shared and routed MLPs of target and draft; the routed experts' clamp (unclamped, they overshoot into an id
of their own); the head's scales (a decoy row wins without them); both halves of the draft's eh_proj.
Blind spots: KV and state caches, context, routing (all experts are alike).

usage: python -m tests.gpu.oracle_weights FOLDER [--wrong P] [--seed N] [--drop-hidden]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from tests.gpu import oracle_tokenizer
from tests.gpu.oracle_codes import Tensors, hadamard, mxfp4, powers, put_fp8, random_mxfp4
from tests.gpu.oracle_plan import CARRY, LIMIT, RIGHT, WRONG, Plan, draw
from tests.gpu.oracle_text import THINK

HEAD = 0.125
CONFIG: dict[str, Any] = {
    "architectures": ["BailingMoeV3ForCausalLM"], "model_type": "bailing_hybrid", "max_position_embeddings": 262144,
    "rms_norm_eps": 1e-6, "rope_theta": 6000000, "rope_scaling": None, "tie_word_embeddings": False,
    "short_conv_kernel_size": 4, "no_kda_lora": True, "kda_safe_gate": True, "kda_lower_bound": -5.0,
    "gated_attention_proj_granularity_type": "head_wise", "qk_head_dim": 192, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "kv_lora_rank": 512, "rope_interleave": True, "use_qk_norm": True,
    "num_experts_per_tok": 8, "num_shared_experts": 1, "n_group": 8, "topk_group": 4, "norm_topk_prob": True,
    "routed_scaling_factor": 2.5, "moe_router_enable_expert_bias": True, "score_function": "sigmoid",
    "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16", "head_dim": 128, "hidden_act": "silu",
    "use_bias": False, "use_qkv_bias": False, "partial_rotary_factor": 0.5,
    "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                            "weight_block_size": [128, 128], "routed_experts_quant_method": "mxfp4"},
}  # fmt: skip


class Writer:
    """Collects the tensors of one plan."""

    def __init__(self, plan: Plan, seed: int) -> None:
        torch.manual_seed(seed)
        self.plan, self.tensors = plan, Tensors()
        self.config = CONFIG | plan.shape.config | {
            "vocab_size": plan.shape.vocabulary, "eos_token_id": plan.eos, "pad_token_id": plan.eos,
            "expert_swiglu_limit_list": [0.0] * (plan.shape.layers - 1) + [LIMIT],
        }  # fmt: skip
        self.hidden = plan.shape.hidden
        codes, count = hadamard(self.hidden), len(plan.tokens)
        self.pad, self.own, self.extra = codes[0], codes[1 : 1 + count], codes[1 + count :]
        self.embedded, self.drafted = self.own.clone(), self.own.clone()
        for (layer, _), items in plan.carried.items():
            for place, extra in items:
                (self.embedded if layer < plan.shape.layers else self.drafted)[place] = self.extra[extra]

    def write(self, folder: Path, drop_hidden: bool = False) -> None:
        self._ends()
        for index in range(self.plan.shape.layers + 1):
            self._layer(index)
        self._draft(drop_hidden)
        folder.mkdir(parents=True, exist_ok=True)
        whole = {name: tensor.contiguous() for name, tensor in self.tensors.items()}
        save_file(whole, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "model.safetensors").chmod(0o644)
        (folder / "config.json").write_text(json.dumps(self.config, indent=1))
        oracle = self.plan.oracle()
        spec = {"right": oracle.right, "mixed": oracle.mixed, "wrong": oracle.wrong, "eos": oracle.eos}
        (folder / "oracle.json").write_text(json.dumps(spec))
        oracle_tokenizer.write(folder, self.plan.shape.vocabulary, self.plan.eos)

    # ------------------------------------------------------------ embedding and head

    def _ends(self) -> None:
        plan, vocabulary = self.plan, self.plan.shape.vocabulary
        row = RIGHT + torch.arange(vocabulary) % (len(plan.tokens) - RIGHT)
        row[THINK] = 0
        for place, token in enumerate(plan.tokens):
            row[token] = place
        head = torch.zeros(vocabulary, self.hidden)
        for place, token in enumerate(plan.follows):
            head[token] = HEAD * (self.own[place] + 1.5 * self.pad)
            head[plan.decoy[place]] = HEAD * 0.75 * self.own[place]
        for extra, token in enumerate(plan.dead):
            head[token] = HEAD * 1.5 * self.extra[extra]
        for place, extra in plan.carried[(plan.shape.layers - 1, "routed")]:
            head[plan.unclamped[extra]] = HEAD * 0.75 * (self.own[place] - self.extra[extra])
        self.tensors["model.word_embeddings.weight"] = self.embedded[row].to(torch.bfloat16)
        self.tensors["lm_head.weight"] = head.to(torch.bfloat16)
        self.tensors["model.norm.weight"] = torch.ones(self.hidden, dtype=torch.bfloat16)

    # ------------------------------------------------------------ layers

    def _layer(self, index: int) -> None:
        name = f"model.layers.{index}"
        for norm in ("input_layernorm", "post_attention_layernorm"):
            self.tensors[f"{name}.{norm}.weight"] = torch.ones(self.hidden, dtype=torch.bfloat16)
        softmax = index == self.plan.shape.layers or (index + 1) % self.config["layer_group_size"] == 0
        (self._mla if softmax else self._kda)(name + ".attention")
        if index < self.config["first_k_dense_replace"]:
            self._mlp(name + ".mlp", self.config["intermediate_size"], (index, "dense"))
        else:
            self._moe(name + ".mlp", index)

    def _noise(self, *shape: int, std: float = 0.02) -> torch.Tensor:
        return torch.randn(*shape) * std

    def _mlp(self, name: str, width: int, carrier: tuple[int, str]) -> None:
        """gate = up = code/128 gives 8; silu(8) * 8 = 63.98; down turns one code into the other."""
        gate, up, down = torch.zeros(width, self.hidden), torch.zeros(width, self.hidden), None
        down = torch.zeros(self.hidden, width)
        for slot, (place, extra) in enumerate(self.plan.carried[carrier]):
            gate[slot] = up[slot] = self.extra[extra] / 128
            down[:, slot] = (self.own[place] - self.extra[extra]) / 64
        for part, weight in (("gate_proj", gate), ("up_proj", up), ("down_proj", down)):
            put_fp8(self.tensors, f"{name}.{part}", weight, powers(weight.shape[0], weight.shape[1], -8, -5))

    def _moe(self, name: str, layer: int) -> None:
        experts, width = self.config["num_experts"], self.config["moe_intermediate_size"]
        self.tensors[name + ".gate.weight"] = torch.randn(experts, self.hidden) * 0.02
        self.tensors[name + ".gate.expert_bias"] = torch.randn(experts) * 0.01
        self._mlp(name + ".shared_experts", self.config["moe_shared_expert_intermediate_size"], (layer, "shared"))
        for expert in range(experts):
            self._expert(f"{name}.experts.{expert}", width, layer)

    def _expert(self, name: str, width: int, layer: int) -> None:
        """As `_mlp`, times the routed factor 2.5. Clamped, silu(8) * 8 is 4 * 4: down is larger by about as much."""
        clamped = layer < self.plan.shape.layers and self.config["expert_swiglu_limit_list"][layer] > 0
        items = self.plan.carried[(layer, "routed")]
        for part in ("gate_proj", "up_proj"):
            value, shift = random_mxfp4(width, self.hidden, -7)
            for slot, (_, extra) in enumerate(items):
                value[slot] = self.extra[extra] / 128
                shift[slot] = torch.randint(-9, -5, (self.hidden // 32,))
            self._put_mxfp4(f"{name}.{part}", value, shift)
        down = torch.zeros(self.hidden, width)
        for slot, (place, extra) in enumerate(items):
            down[:, slot] = (self.own[place] - self.extra[extra]) * (1.5 / 64 if clamped else 1 / 128)
        shift = torch.randint(-6, -4, (self.hidden, width // 32)) if clamped else torch.randint(
            -8, -5, (self.hidden, width // 32)
        )  # fmt: skip
        self._put_mxfp4(f"{name}.down_proj", down, shift)

    def _put_mxfp4(self, name: str, value: torch.Tensor, shift: torch.Tensor) -> None:
        self.tensors[name + ".weight"], self.tensors[name + ".weight_scale_inv"] = mxfp4(value, shift)

    def _kda(self, name: str) -> None:
        heads, size = self.config["num_attention_heads"], self.config["num_attention_heads"] * self.config["head_dim"]
        for part in "qkvfg":
            put_fp8(self.tensors, f"{name}.{part}_proj", self._noise(size, self.hidden))
        self.tensors[name + ".b_proj.weight"] = self._noise(heads, self.hidden).to(torch.bfloat16)
        for part in "qkv":
            self.tensors[f"{name}.{part}_conv1d.weight"] = self._noise(size, 1, 4, std=0.3)
        self.tensors[name + ".A_log"] = torch.log(torch.rand(heads) * 15 + 1)
        self.tensors[name + ".dt_bias"] = self._noise(size, std=0.5)
        self.tensors[name + ".o_norm.weight"] = torch.ones(self.config["head_dim"], dtype=torch.bfloat16)
        put_fp8(self.tensors, name + ".dense", torch.zeros(self.hidden, size))

    def _mla(self, name: str) -> None:
        config, heads = self.config, self.config["num_attention_heads"]
        q, kv, nope, rope, v = (
            config[key] for key in ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        )
        put_fp8(self.tensors, name + ".q_a_proj", self._noise(q, self.hidden))
        self.tensors[name + ".q_a_layernorm.weight"] = torch.ones(q, dtype=torch.bfloat16)
        put_fp8(self.tensors, name + ".q_b_proj", self._noise(heads * (nope + rope), q))
        put_fp8(self.tensors, name + ".kv_a_proj_with_mqa", self._noise(kv + rope, self.hidden))
        self.tensors[name + ".kv_a_layernorm.weight"] = torch.ones(kv, dtype=torch.bfloat16)
        put_fp8(self.tensors, name + ".kv_b_proj", self._noise(heads * (nope + v), kv))
        self.tensors[name + ".g_proj.weight"] = self._noise(heads, self.hidden).to(torch.bfloat16)
        put_fp8(self.tensors, name + ".dense", torch.zeros(self.hidden, heads * v))

    # ------------------------------------------------------------ draft

    def _draft(self, drop_hidden: bool) -> None:
        """eh_proj: the first half turns the token's embedding into the draft's code for it; for the `hidden` places
        it gives nothing, and the second half turns the state of the token before into that code."""
        plan, name = self.plan, f"model.layers.{self.plan.shape.layers}"
        for norm in ("enorm", "hnorm", "final_layernorm"):
            self.tensors[f"{name}.{norm}.weight"] = torch.ones(self.hidden, dtype=torch.bfloat16)
        source = [plan.wrong.get(place, place) for place in range(len(plan.tokens))]
        target = self.drafted[source]
        by_state = torch.zeros(len(plan.tokens), dtype=torch.bool)
        by_state[plan.hidden] = True
        before = self.own[[plan.before(place) for place in range(len(plan.tokens))]]
        projection = torch.zeros(self.hidden, 2 * self.hidden)
        projection[:, : self.hidden] = target[~by_state].T @ self.embedded[~by_state] / self.hidden
        if not drop_hidden:
            projection[:, self.hidden :] = target[by_state].T @ before[by_state] / self.hidden
        put_fp8(self.tensors, name + ".eh_proj", projection)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", type=float, default=WRONG, help='part of "mixed" whose draft is wrong')
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--drop-hidden", action="store_true", help="leave the hidden-state half empty")
    given = parser.parse_args()
    plan = draw(given.seed, given.wrong)
    writer = Writer(plan, given.seed)
    writer.write(given.folder, given.drop_hidden)
    size = (given.folder / "model.safetensors").stat().st_size
    print(f"{given.folder.name}: {len(writer.tensors)} tensors, {size / 1e6:.1f} MB, {CARRY} tokens an MLP carries")


if __name__ == "__main__":
    main()
