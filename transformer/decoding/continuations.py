"""The best ways for hypotheses to go on, found without sorting a whole vocabulary."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

_CHUNK = 64


def best_continuations(
    totals: Float[Tensor, "sentence width"], log_probs: Float[Tensor, "sentence width vocab"], n: int
) -> tuple[Float[Tensor, "sentence n"], Int[Tensor, "sentence n"], Int[Tensor, "sentence n"]]:
    """The n best sums of a hypothesis's total and a piece's log-probability, at most as many as there are, best first.

    Also which of the sentence's hypotheses each goes on from, and the piece.

    Two passes: the n best lie in the n chunks of the vocabulary with the highest maxima, or in the rest that fills no
    chunk. Maxima are cheap on the CPU; topk and argmax over all pieces are not.
    """
    n_sentences, width, n_vocab = log_probs.shape
    n_chunks = n_vocab // _CHUNK
    if width * n_chunks <= n:
        best, places = (totals[:, :, None] + log_probs).flatten(1).topk(min(n, width * n_vocab))
        return best, places // n_vocab, places % n_vocab
    whole = n_chunks * _CHUNK
    maxima = log_probs[:, :, :whole].unflatten(2, (n_chunks, _CHUNK)).amax(-1) + totals[:, :, None]
    chunks = maxima.flatten(1).topk(n, sorted=False).indices
    start = chunks // n_chunks * n_vocab + chunks % n_chunks * _CHUNK
    inside = (start[:, :, None] + torch.arange(_CHUNK, device=start.device)).flatten(1)
    rest = torch.arange(width * n_vocab, device=start.device).view(width, n_vocab)[:, whole:].flatten()
    places = torch.cat((inside, rest.expand(n_sentences, -1)), 1)
    sums = log_probs.flatten(1).gather(1, places) + totals.gather(1, places // n_vocab)
    best, index = sums.topk(n)
    places = places.gather(1, index)
    return best, places // n_vocab, places % n_vocab
