"""Does order matter to a model? The same weights without positions, and what shuffling a sentence changes."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float64

from transformer.model.transformer import Transformer
from transformer.text.tokenizer import BOS


def without_positions(model: Transformer) -> Transformer:
    """A model of the same weights, shared and not copied, whose positions add, turn and bias nothing."""
    with torch.device("meta"):
        bare = Transformer(replace(model.config, positions="none"))
    weights = {name: weight for name, weight in model.state_dict().items() if not name.startswith("positions.")}
    bare.load_state_dict(weights, assign=True)
    return bare.eval()


def shuffled_words(words: Sequence[int], seed: int = 0) -> list[int]:
    """An order of tokens in which whole words have changed places; the last word, </s>, stays last.

    Entry i is the old place of the token that now stands at place i. It is never the old order where two words can
    change places.
    """
    groups: dict[int, list[int]] = {}
    for index, word in enumerate(words):
        groups.setdefault(word, []).append(index)
    *movable, last = groups.values()
    order, draw = list(movable), random.Random(seed)
    while len(movable) > 1 and order == movable:
        draw.shuffle(order)
    return [index for group in [*order, last] for index in group]


@dataclass(frozen=True)
class OrderEffect:
    """How far outputs move when a text is shuffled, each as ‖difference‖ / ‖output‖."""

    order: tuple[int, ...]
    encoder: Float64[np.ndarray, " token"]
    """Of each shuffled source token's output against the same token's output in the sentence as it was."""
    encoder_largest: float
    """The largest difference of any one number in the encoder's outputs."""
    decoder: float
    """Of the decoder's last output: the same words read before it, in the old order and in the shuffled one."""


@torch.no_grad()
def order_effect(model: Transformer, source: Sequence[int], words: Sequence[int], seed: int = 0) -> OrderEffect:
    """Shuffle the words of a source (ids with </s> last; `words` as group_words gives them).

    The decoder reads <s> and the source's own tokens, in both orders and with </s> last, and attends to the same
    encoder output both times: what is left is what its causal mask and its positions make of order.
    """
    order = shuffled_words(words, seed)
    both = torch.tensor([list(source), [source[index] for index in order]], device=model.device)
    memory = model.encode(both)
    moved, stayed = memory[1], memory[0, order]
    distance = (moved - stayed).norm(dim=-1) / stayed.norm(dim=-1)
    read = torch.cat([torch.full_like(both[:, :1], BOS), both], dim=1)
    last = model.decode(read, memory[:1].expand_as(memory))[:, -1]
    return OrderEffect(
        order=tuple(order),
        encoder=distance.double().cpu().numpy(),
        encoder_largest=float((moved - stayed).abs().max()),
        decoder=float((last[1] - last[0]).norm() / last[0].norm()),
    )
