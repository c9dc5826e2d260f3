"""Beam search with the paper's length penalty (§6.1), over many sentences at once; greedy search is a beam of 1."""

from collections.abc import Callable, Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.decoding.cache import KeyValueCache
from transformer.decoding.continuations import best_continuations
from transformer.decoding.hypothesis import Hypothesis, length_penalty, ranked
from transformer.model.hooks import Hook
from transformer.model.transformer import Transformer, source_mask
from transformer.text.batches import pad
from transformer.text.tokenizer import BOS, EOS, PAD

_HYPOTHESES = 256
"""Decoded together: enough for the matrix products to outweigh what a step costs whatever its size."""
_LONG = 64
"""Pieces of a sentence above which fewer are decoded together, so that memory is bounded."""

Observer = Callable[
    [Float[Tensor, "row vocab"], Float[Tensor, "sentence width"], Int[Tensor, " new_row"], Int[Tensor, " new_row"]],
    None,
]
"""Is shown each step: every open row's log-probabilities of the next piece; then of the new rows, best first for each
sentence, the log-probability so far (-inf where there is none), the row that it goes on from, and the piece written."""
NOT_NUMBERS = (
    "The model cannot write: its scores are not numbers (NaN), as after a run that diverged; "
    "a target that is given can still be traced."
)


def greedy(model: Transformer, sources: Sequence[Sequence[int]], **options) -> list[Hypothesis]:
    """The likeliest next token at every step; options as in beam_search."""
    return [found[0] for found in beam_search(model, sources, beam=1, **options)]


def beam_search(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    *,
    beam: int = 4,
    alpha: float = 0.6,
    n_best: int = 1,
    max_extra: int = 50,
    batch_size: int | None = None,
    prefix: Sequence[int] = (),
    hooks: Sequence[Hook] = (),
    observer: Observer | None = None,
) -> list[list[Hypothesis]]:
    """The n_best best targets of each source, best first.

    sources: ids without EOS. A hypothesis that ends takes its place out of the beam; a sentence is done when the whole
    beam has ended, or no open hypothesis can still beat the n_best ended ones. Targets have at most max_extra tokens
    more than the source (EOS counts on both sides), and no more than a model with learned positions has rows. Where
    fewer than n_best end by then, open hypotheses follow.
    prefix: ids that every target begins with; they count in its length and its log-probability.
    batch_size: sentences decoded together, fewer where they are long; by default 256 hypotheses' worth.
    observer: is shown every step (transformer/decoding/record.py keeps what it sees).
    Raises ValueError when an option is out of range, and for a model whose scores are not numbers.
    """
    batch_size = max(1, _HYPOTHESES // max(1, beam)) if batch_size is None else batch_size
    numbers = {"beam": (beam, 1), "n_best": (n_best, 1), "max_extra": (max_extra, 0), "batch_size": (batch_size, 1)}
    for name, (value, least) in numbers.items():
        if value < least:
            raise ValueError(f"{name} is {value}; allowed is a whole number of at least {least}.")
    if n_best > beam:
        raise ValueError(f"n_best is {n_best}; allowed is at most the beam, which is {beam}.")
    if not 0 <= alpha < float("inf"):
        raise ValueError(f"alpha is {alpha}; allowed is a number of at least 0.")
    for piece in prefix:
        if not EOS < piece < model.config.vocab_size:
            allowed = f"{EOS + 1} to {model.config.vocab_size - 1}, the pieces that are not special"
            raise ValueError(f"The prefix holds the id {piece}; allowed is {allowed}.")
    found: dict[int, list[Hypothesis]] = {}
    for chosen in _batches(sources, batch_size):
        texts = [sources[index] for index in chosen]
        search = _Search(model, texts, beam, alpha, n_best, max_extra, prefix, hooks, observer)
        with torch.inference_mode():
            found.update(zip(chosen, search.run(), strict=True))
    if not all(found.values()):
        raise ValueError(NOT_NUMBERS)
    return [found[index] for index in range(len(sources))]


def _batches(sources: Sequence[Sequence[int]], n_sentences: int) -> Iterator[list[int]]:
    """Indices of sentences of about the same length; fewer than n_sentences where they are longer than _LONG pieces."""
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * max(1, len(sources[index]) / _LONG) > n_sentences:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


class _Search:
    """One batch of sentences. Rows are hypotheses; those of one sentence lie side by side, as many as `width`."""

    def __init__(self, model, sources, beam, alpha, n_best, max_extra, prefix, hooks, observer) -> None:
        self.model, self.beam, self.alpha, self.n_best, self.hooks = model, beam, alpha, n_best, hooks
        self.observer = observer
        self.source = pad([[*source, EOS] for source in sources]).to(model.device)
        self.prefix = list(prefix)
        limits = (self.source != PAD).sum(1) + max_extra
        if model.config.positions == "learned":
            limits.clamp_(max=model.config.max_length)
        self.limits = limits.tolist()
        self.ended: list[list[Hypothesis]] = [[] for _ in sources]
        self.unended: list[list[Hypothesis]] = [[] for _ in sources]

    def run(self) -> list[list[Hypothesis]]:
        n_sentences, device = len(self.source), self.source.device
        # Sentences of one length need no mask, and attention is faster without.
        mask = source_mask(self.source) if bool((self.source == PAD).any()) else None
        memory = self.model.encode(self.source, mask, self.hooks)
        cache = KeyValueCache(len(self.model.decoder))
        read = torch.tensor([[BOS, *self.prefix]], device=device).expand(n_sentences, -1)
        logits = self._logits(read, memory, mask, cache)
        tokens = read[:, 1:]
        history = logits[:, :-1].log_softmax(-1).gather(2, tokens[..., None]).squeeze(2)
        totals, logits = history.sum(1, keepdim=True), logits[:, -1]
        active = list(range(n_sentences))
        while True:
            totals, row, written, log_prob = self._continue(totals, logits, active)
            tokens = torch.cat((tokens[row], written), 1)
            history = torch.cat((history[row], log_prob), 1)
            going_on = self._harvest(totals, tokens, history, active)
            if not going_on:
                break
            width = totals.shape[1]
            sentence = torch.tensor(going_on, device=device)
            if len(going_on) < len(active):
                rows = (sentence[:, None] * width + torch.arange(width, device=device)).flatten()
                active = [active[index] for index in going_on]
                totals, tokens, history, row = totals[sentence], tokens[rows], history[rows], row[rows]
            # Hypotheses share their sentence's memory, unless hooks want to see each attend to a source of its own.
            kept = row if self.hooks else sentence
            if self.hooks or len(kept) < len(memory):
                memory, mask = memory[kept], None if mask is None else mask[kept]
                cache.select_sentences(kept)
            cache.select(row)
            logits = self._logits(tokens[:, -1:], memory, mask, cache)[:, -1]
        found = zip(self.ended, self.unended, strict=True)
        return [(ranked(ended) + ranked(unended))[: self.n_best] for ended, unended in found]

    def _logits(self, read: Tensor, memory: Tensor, mask: Tensor | None, cache: KeyValueCache) -> Tensor:
        hidden = self.model.decode(read, memory, mask, cache=cache, hooks=self.hooks)
        return self.model.projection(hidden).float()

    def _continue(self, totals: Tensor, logits: Tensor, active: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The best ways to go on: log-probabilities so far (sentence, width), and for each row of the new beam the row
        that it goes on from, the piece it writes (row, 1), and that piece's log-probability (row, 1).

        Hypotheses that have ended keep their places in the beam, which is as wide as the sentence with most free ones
        needs; in other sentences the last places are closed, at -inf.
        """
        n_sentences, width = totals.shape
        free = [self.beam - len(self.ended[sentence]) for sentence in active]
        log_probs = logits.log_softmax(-1)
        log_probs[:, :EOS] = float("-inf")  # PAD, UNK and BOS are never written
        totals, place, piece = best_continuations(totals, log_probs.unflatten(0, (n_sentences, width)), max(free))
        if min(free) < max(free):
            closed = torch.arange(totals.shape[1]) >= torch.tensor(free)[:, None]
            totals.masked_fill_(closed.to(totals.device), float("-inf"))
        row = (torch.arange(n_sentences, device=totals.device)[:, None] * width + place).flatten()
        written = piece.flatten()
        if self.observer is not None:
            self.observer(log_probs, totals, row, written)
        return totals, row, written[:, None], log_probs[row, written][:, None]

    def _harvest(self, totals: Tensor, tokens: Tensor, history: Tensor, active: list[int]) -> list[int]:
        """Take out hypotheses that end here, and close their places; which of the active sentences go on."""
        n_tokens, width = tokens.shape[1], totals.shape[1]
        ends = (tokens[:, -1] == EOS).view(totals.shape) & totals.isfinite()
        for index, place in ends.nonzero().tolist():
            self.ended[active[index]].append(self._hypothesis(tokens, history, index * width + place))
        totals.masked_fill_(ends, float("-inf"))
        going_on = []
        for index, (sentence, sums) in enumerate(zip(active, totals.tolist(), strict=True)):
            if self._is_done(sentence, max(sums)):
                continue
            if n_tokens < self.limits[sentence]:
                going_on.append(index)
                continue
            rows = [index * width + place for place, total in enumerate(sums) if total > float("-inf")]
            self.unended[sentence] = [self._hypothesis(tokens, history, row) for row in rows]
        return going_on

    def _is_done(self, sentence: int, best_open: float) -> bool:
        """Whether nothing is open, or what is open cannot be better than what has ended, however it goes on.

        Its log-probability can only fall, and the longest penalty is the one that lifts its score most.
        """
        if best_open == float("-inf"):
            return True
        scores = sorted((hypothesis.score for hypothesis in self.ended[sentence]), reverse=True)
        if len(scores) < self.n_best:
            return False
        return scores[self.n_best - 1] >= best_open / length_penalty(self.limits[sentence], self.alpha)

    def _hypothesis(self, tokens: Tensor, history: Tensor, row: int) -> Hypothesis:
        log_probs = tuple(history[row].tolist())
        return Hypothesis(
            tuple(tokens[row].tolist()), log_probs, sum(log_probs) / length_penalty(len(log_probs), self.alpha)
        )
