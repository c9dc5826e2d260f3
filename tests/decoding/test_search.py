"""Search against exhaustive search, against greedy search written out, and against the sums it reports."""

import copy
import itertools
import math
from functools import cache

import pytest
import torch

from transformer.analysis.interventions import SwitchOff
from transformer.config import ModelConfig
from transformer.decoding import search
from transformer.decoding.search import Hypothesis, beam_search, greedy, length_penalty
from transformer.model import Transformer
from transformer.text.tokenizer import BOS, EOS, PAD, UNK

MIXED = [[7, 9, 4], [12], [], [5, 6, 7, 8, 9, 10, 11], [20, 21], [30, 4, 4, 4, 18], [8] * 12, [40, 41, 42]]


@cache
def random_model(vocab_size: int = 50, positions: str = "sinusoidal", norm: str = "post", seed: int = 0) -> Transformer:
    """Untrained, with logits spread widely enough that hypotheses differ and end."""
    torch.manual_seed(seed)
    config = ModelConfig(
        vocab_size=vocab_size,
        d_model=16,
        d_ff=32,
        n_heads=2,
        n_encoder_layers=1,
        n_decoder_layers=2,
        positions=positions,
        norm=norm,
        max_length=12 if positions == "learned" else 512,
    )
    model = Transformer(config).eval()
    with torch.no_grad():
        model.projection.weight.mul_(4)
    return model


def log_probs(model: Transformer, source: list[int], tokens: tuple[int, ...]) -> list[float]:
    """Of each token, from one teacher-forced pass without a cache."""
    with torch.inference_mode():
        logits = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *tokens[:-1]]]))
    return logits[0].log_softmax(-1).gather(1, torch.tensor(tokens)[:, None]).squeeze(1).tolist()


def greedy_written_out(model: Transformer, source: list[int], max_extra: int = 50) -> tuple[int, ...]:
    """One full pass a step, nothing kept from the step before."""
    tokens: list[int] = []
    while len(tokens) < len(source) + 1 + max_extra and EOS not in tokens:
        with torch.inference_mode():
            logits = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *tokens]]))[0, -1].clone()
            logits[[PAD, UNK, BOS]] = -math.inf
        tokens.append(int(logits.argmax()))
    return tuple(tokens)


def all_targets(vocab_size: int, longest: int) -> list[tuple[int, ...]]:
    """Every target that ends within `longest` tokens."""
    letters = range(EOS + 1, vocab_size)
    return [(*body, EOS) for n in range(longest) for body in itertools.product(letters, repeat=n)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_wide_beam_finds_what_exhaustive_search_finds(seed, alpha):
    """Four pieces besides the special ones' ids, targets of at most five tokens."""
    model, source = random_model(vocab_size=7, seed=seed), [4, 5]
    scored = {
        tokens: sum(log_probs(model, source, tokens)) / length_penalty(len(tokens), alpha)
        for tokens in all_targets(vocab_size=7, longest=5)
    }
    best = sorted(scored, key=scored.__getitem__, reverse=True)[:3]
    found = beam_search(model, [source], beam=200, alpha=alpha, n_best=3, max_extra=2)[0]
    assert [hypothesis.tokens for hypothesis in found] == best
    assert [hypothesis.score for hypothesis in found] == pytest.approx([scored[tokens] for tokens in best], abs=1e-5)


A, B = 4, 5
GREEDY_IS_WRONG = {(): {A: 0.6, B: 0.4}, (A,): {EOS: 0.35, A: 0.33, B: 0.32}, (B,): {EOS: 0.9, A: 0.1}}
"""After A comes a long tail, after B a sure end."""
LATE_IS_BETTER = {(): {EOS: 0.5, A: 0.3, B: 0.2}, **{(A,) * n: {A: 1.0} for n in range(1, 7)}}
"""The empty target is the likeliest; seven A, once begun, are sure to follow, and to end there."""


class ByHand(torch.nn.Module):
    """A decoder whose next-token probabilities are written down; a history that is not in the table ends."""

    def __init__(self, table: dict[tuple[int, ...], dict[int, float]]) -> None:
        super().__init__()
        self.table, self.n_steps = table, 0
        self.config = ModelConfig(vocab_size=6, d_model=2, d_ff=2, n_heads=1, n_encoder_layers=1, n_decoder_layers=1)
        self.decoder = [None]
        self.device = torch.device("cpu")

    def encode(self, source, mask, hooks):
        return torch.zeros(*source.shape, 2)

    def decode(self, read, memory, mask, *, cache, hooks):
        """The rows' own history stands in the cache, so that rows that are not reordered with it would be found out."""
        self.n_steps += 1
        layer = cache.decoder[0]
        layer.append(read[:, None, :, None].float(), read[:, None, :, None].float())
        return layer.keys[:, 0, :, 0]

    def projection(self, histories):
        rows = []
        for history in histories.long().tolist():
            following = self.table.get(tuple(history[1:]), {EOS: 1.0})
            rows.append([math.log(following.get(piece, 1e-9)) for piece in range(6)])
        return torch.tensor(rows)[:, None]


def test_beam_search_is_right_where_greedy_search_is_wrong():
    model = ByHand(GREEDY_IS_WRONG)
    assert greedy(model, [[4]])[0].tokens == (A, EOS)
    found = beam_search(model, [[4]], beam=2, alpha=0.0, n_best=2)[0]
    assert [hypothesis.tokens for hypothesis in found] == [(B, EOS), (A, EOS)]
    assert found[0].log_prob == pytest.approx(math.log(0.4 * 0.9), abs=1e-5)


@pytest.mark.parametrize(
    ("alpha", "max_extra", "best", "n_steps"),
    [
        (1.0, 8, (A,) * 7 + (EOS,), 8),  # log 0.3 / (15/6), the best to hope for, is above log 0.5 / 1
        (1.0, 0, (EOS,), 1),  # log 0.3 / (7/6) is not
        (0.0, 8, (EOS,), 1),
    ],
)
def test_search_stops_when_and_only_when_nothing_open_can_become_the_best(alpha, max_extra, best, n_steps):
    model = ByHand(LATE_IS_BETTER)
    found = beam_search(model, [[4]], beam=2, alpha=alpha, max_extra=max_extra)[0]
    assert [hypothesis.tokens for hypothesis in found] == [best]
    assert model.n_steps == n_steps


def test_a_beam_narrows_when_hypotheses_end():
    """Of a beam of 3 the empty target takes one place, (B, EOS) the second, and seven A the third."""
    found = beam_search(ByHand(LATE_IS_BETTER), [[4]], beam=3, n_best=3, alpha=1.0)[0]
    assert [hypothesis.tokens for hypothesis in found] == [(A,) * 7 + (EOS,), (EOS,), (B, EOS)]


def test_a_target_that_reaches_the_longest_length_is_open_and_comes_after_those_that_ended():
    model = ByHand(LATE_IS_BETTER)
    found = beam_search(model, [[4]], beam=3, n_best=3, max_extra=1, alpha=1.0)[0]
    assert [hypothesis.tokens for hypothesis in found] == [(EOS,), (B, EOS), (A, A, A)]
    assert found[2].score == pytest.approx(math.log(0.3) / (8 / 6), abs=1e-5)
    assert greedy(ByHand({(A,) * n: {A: 1.0} for n in range(60)}), [[4]])[0].tokens == (A,) * 52


def test_the_length_penalty_by_hand():
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 1.0) == 2.0
    assert length_penalty(100, 0.0) == 1.0
    hypothesis = greedy(ByHand(GREEDY_IS_WRONG), [[4]], alpha=1.0)[0]
    assert hypothesis.score == pytest.approx(math.log(0.6 * 0.35) / (7 / 6), abs=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "rope", "alibi", "none"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_beam_of_one_is_greedy_search(positions, norm):
    model = random_model(positions=positions, norm=norm)
    found = greedy(model, MIXED)
    assert [hypothesis.tokens for hypothesis in found] == [greedy_written_out(model, source) for source in MIXED]


@pytest.mark.parametrize("beam", [1, 4])
def test_sentences_together_give_what_each_gives_alone(beam):
    model = random_model()
    together = beam_search(model, MIXED, beam=beam, n_best=beam)
    alone = [beam_search(model, [source], beam=beam, n_best=beam)[0] for source in MIXED]
    tokens = [[[h.tokens for h in found] for found in every] for every in (together, alone)]
    assert tokens[0] == tokens[1]
    small_batches = beam_search(model, MIXED, beam=beam, n_best=beam, batch_size=3)
    assert [[h.tokens for h in found] for found in small_batches] == tokens[0]


@pytest.mark.parametrize("positions", ["sinusoidal", "rope", "alibi", "none"])
def test_reported_log_probabilities_are_those_of_a_teacher_forced_pass(positions):
    model = random_model(positions=positions)
    for source, found in zip(MIXED, beam_search(model, MIXED, n_best=4), strict=True):
        for hypothesis in found:
            expected = log_probs(model, source, hypothesis.tokens)
            assert hypothesis.token_log_probs == pytest.approx(expected, abs=1e-4)
            assert hypothesis.score == pytest.approx(sum(expected) / length_penalty(len(expected), 0.6), abs=1e-4)


def test_n_best_are_sorted_and_distinct_and_end_once():
    for found in beam_search(random_model(), MIXED, beam=6, n_best=6):
        scores = [hypothesis.score for hypothesis in found]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.tokens for hypothesis in found}) == len(found) == 6
        for hypothesis in found:
            assert EOS not in hypothesis.tokens[:-1]
            assert not {PAD, UNK, BOS} & set(hypothesis.tokens)


def test_the_best_is_the_same_however_many_are_asked_for():
    """Asking for fewer stops the search earlier, but never too early."""
    model = random_model(seed=3)
    one, four = (beam_search(model, MIXED, n_best=n) for n in (1, 4))
    assert [found[0].tokens for found in one] == [found[0].tokens for found in four]


def test_a_target_is_at_most_so_much_longer_than_its_source():
    model = random_model()
    with torch.no_grad():
        never_ends = random_model(seed=7)
        never_ends.projection.weight[EOS] = 0
        never_ends.projection.weight[4:] += 1
    for max_extra in (0, 3):
        for source, found in zip(MIXED, beam_search(never_ends, MIXED, max_extra=max_extra), strict=True):
            assert len(found[0].tokens) <= len(source) + 1 + max_extra
    assert max(len(found.tokens) for found in greedy(model, [[]], max_extra=50)) <= 51


def test_a_model_with_learned_positions_stops_at_its_last_row():
    model = random_model(positions="learned")
    found = beam_search(model, [[7, 8, 9], [5]], n_best=2)
    assert all(len(hypothesis.tokens) <= 12 for hypotheses in found for hypothesis in hypotheses)
    assert found[0][0].tokens == beam_search(model, [[7, 8, 9]], n_best=2)[0][0].tokens


def test_a_prefix_is_kept_and_counted():
    model, source = random_model(), MIXED[3]
    found = beam_search(model, [source], prefix=[17, 23], n_best=4)[0]
    for hypothesis in found:
        assert hypothesis.tokens[:2] == (17, 23)
        assert hypothesis.token_log_probs == pytest.approx(log_probs(model, source, hypothesis.tokens), abs=1e-4)


def test_hooks_act_while_searching():
    model = random_model()
    off = [SwitchOff("cross", 0, 0), SwitchOff("cross", 0, 1), SwitchOff("cross", 1, 0), SwitchOff("cross", 1, 1)]
    found = beam_search(model, MIXED, hooks=off, max_extra=3)
    # Without cross-attention the source says nothing: all targets of sentences of one length are the same.
    assert found[0][0].tokens == found[7][0].tokens
    one_off = [SwitchOff("decoder", 1, 0)]
    together = beam_search(model, MIXED, hooks=one_off, n_best=4)
    alone = [beam_search(model, [source], hooks=one_off, n_best=4)[0] for source in MIXED]
    assert [[h.tokens for h in found] for found in together] == [[h.tokens for h in found] for found in alone]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"beam": 0}, "beam is 0; allowed is a whole number of at least 1"),
        ({"n_best": 5}, "n_best is 5; allowed is at most the beam, which is 4"),
        ({"alpha": -1.0}, "alpha is -1.0"),
        ({"alpha": math.nan}, "alpha is nan"),
        ({"max_extra": -1}, "max_extra is -1"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"prefix": [5, EOS]}, "The prefix holds the id 3; allowed is 4 to 49"),
        ({"prefix": [50]}, "The prefix holds the id 50"),
    ],
)
def test_options_out_of_range_are_named(options, says):
    with pytest.raises(ValueError, match=says):
        beam_search(random_model(), [[5]], **options)


def test_batches_hold_sentences_of_like_length_and_fewer_long_ones():
    sources = [[4] * n for n in (3, 640, 1, 128, 64, 2, 2, 128)]
    batches = list(search._batches(sources, 4))
    assert batches == [[2, 5, 6, 0], [4, 3], [7], [1]]


def test_no_sentence_gives_no_target():
    assert beam_search(random_model(), []) == []


def test_log_prob_is_the_plain_sum():
    assert Hypothesis((4, EOS), (-1.0, -0.5), -9.0).log_prob == -1.5


@pytest.mark.parametrize("beam", [1, 4])
def test_a_model_that_diverged_says_so_and_writes_nothing(beam: int):
    model = copy.deepcopy(random_model())
    with torch.no_grad():
        model.projection.weight.fill_(math.nan)
    with pytest.raises(ValueError, match=r"^The model cannot write: its scores are not numbers \(NaN\)"):
        beam_search(model, [[7, 9]], beam=beam)
