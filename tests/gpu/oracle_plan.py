"""Who carries which token of the oracle: drawn once, then written by oracle_weights.py and known to oracle_text.py.

Most tokens keep their code from the embedding to the head. A carried token starts with another code, which the head
reads as a wrong id of its own, and only one MLP of target or draft turns it into the right one: so the text, or the
accept length, proves that this MLP computes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.gpu.oracle_text import END_THINK, FIRST_WORD, Oracle

RIGHT, MIXED = 192, 384
"""Tokens of the two cycles."""
CARRY = 24
"""Tokens that each MLP carries."""
LIMIT = 4.0
"""SwiGLU clamp of the target's routed experts."""
WRONG = 0.25
"""Part of "mixed" whose draft is wrong: an accept length near 2.7."""
HIDDEN = 0.25
"""Part of the tokens whose draft comes from the hidden-state half of eh_proj alone."""


@dataclass(frozen=True)
class Shape:
    """Small enough to write in seconds, of the published model's kind: one KDA layer with the dense MLP, one MLA layer
    with the experts, one NEXTN layer."""

    hidden: int = 1024
    layers: int = 2
    vocabulary: int = 4096
    config: dict[str, object] = field(
        default_factory=lambda: {
            "hidden_size": 1024, "intermediate_size": 1024, "num_hidden_layers": 2, "layer_group_size": 2,
            "num_attention_heads": 8, "num_key_value_heads": 8, "q_lora_rank": 256, "first_k_dense_replace": 1,
            "num_experts": 16, "moe_intermediate_size": 256, "moe_shared_expert_intermediate_size": 256,
        }
    )  # fmt: skip


Carrier = tuple[int, str]
"""Layer and "dense", "shared" or "routed"; the layer after the last is the draft's."""


@dataclass
class Plan:
    """`tokens`: both cycles, "right" first; a place in it is the number of a code. `follows[p]`: the token said after
    `tokens[p]`. `carried`: carrier -> (place, number of the extra code). `wrong`: place -> place whose code the draft
    takes instead. `hidden`: places that only the hidden-state half drafts. `decoy`, `dead`, `unclamped`: ids that a
    broken head, MLP or clamp says."""

    shape: Shape
    tokens: list[int]
    follows: list[int]
    carried: dict[Carrier, list[tuple[int, int]]]
    wrong: dict[int, int]
    hidden: list[int]
    decoy: list[int]
    dead: list[int]
    unclamped: dict[int, int]
    eos: int

    def before(self, place: int) -> int:
        """The place in its cycle before."""
        if place < RIGHT:
            return (place - 1) % RIGHT
        return RIGHT + (place - RIGHT - 1) % MIXED

    def oracle(self) -> Oracle:
        said = {self.tokens[place]: self.follows[other] for place, other in self.wrong.items()}
        return Oracle(self.tokens[:RIGHT], self.tokens[RIGHT:], said, self.eos)


def draw(seed: int = 0, wrong: float = WRONG) -> Plan:
    """The plan for a seed."""
    shape, rng = Shape(), random.Random(seed)
    layer, draft = shape.layers - 1, shape.layers
    carriers: list[Carrier] = [
        (0, "dense"), (layer, "shared"), (layer, "routed"), (draft, "shared"), (draft, "routed"),
    ]  # fmt: skip
    count, extra, eos = RIGHT + MIXED, CARRY * len(carriers), shape.vocabulary - 1
    assert 1 + count + extra <= shape.hidden
    ids = rng.sample(range(FIRST_WORD, eos), 2 * count + extra + CARRY)
    tokens, decoy, rest = ids[:count], ids[count : 2 * count], ids[2 * count :]
    tokens[20] = END_THINK  # so that a thought ends after some twenty tokens
    follows = [tokens[(place + 1) % RIGHT] for place in range(RIGHT)]
    follows += [tokens[RIGHT + (place + 1) % MIXED] for place in range(MIXED)]
    order = rng.sample(range(count), extra)
    carried = {
        carrier: [(order[j], j) for j in range(k * CARRY, (k + 1) * CARRY)] for k, carrier in enumerate(carriers)
    }
    in_draft = {place for (owner, _), items in carried.items() if owner == draft for place, _ in items}
    free = [place for place in range(count) if place not in in_draft]
    in_mixed = [place for place in free if place >= RIGHT]
    wrong_places = rng.sample(in_mixed, round(wrong * MIXED))
    others = [place for place in free if place not in set(wrong_places)]
    return Plan(
        shape=shape,
        tokens=tokens,
        follows=follows,
        carried=carried,
        wrong={place: rng.choice([other for other in in_mixed if other != place]) for place in wrong_places},
        hidden=sorted(rng.sample(others, round(HIDDEN * count))),
        decoy=decoy,
        dead=rest[:extra],
        unclamped={extra_code: rest[extra + k] for k, (_, extra_code) in enumerate(carried[(layer, "routed")])},
        eos=eos,
    )
