"""One optimizer step and many: what is averaged over, what is logged, what is kept, and that it learns (§5)."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.training.small import learn, model_config, reversals, trainer
from transformer.model import Transformer
from transformer.text.batches import make_batch
from transformer.training.saved import saved_steps
from transformer.training.schedule import learning_rate
from transformer.training.trainer import Trainer
from transformer.weights import read_weights

PLAIN = {"epsilon": 1.0, "beta1": 0.0, "beta2": 0.0, "steps": 1, "warmup": 1}
"""Adam that moves by lr · g / (|g| + 1): unlike the paper's ε, it does not blow up gradients that are only rounding."""


def parameters(run: Trainer) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in run.model.parameters()]


def metrics(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def token_losses(model: Transformer, pairs: list, epsilon: float) -> Tensor:
    """The loss of every real token of every pair, one pair at a time."""
    losses = []
    for pair in pairs:
        batch = make_batch([pair])
        logits = model(batch.source, batch.target_in)[0]
        losses.append(F.cross_entropy(logits, batch.target_out[0], reduction="none", label_smoothing=epsilon))
    return torch.cat(losses)


@pytest.mark.parametrize("batch_tokens", [8, 14, 30])
def test_many_small_batches_accumulated_are_one_big_batch(tmp_path: Path, batch_tokens: int):
    """Every token counts the same, whichever batch it is in: not the mean of the batches' means."""
    pairs = reversals(24)
    small, big = trainer(tmp_path / "probe", pairs, batch_tokens=batch_tokens), 10_000
    n_batches = len(small.batches.epoch(0))
    assert n_batches > 2
    runs = [
        trainer(tmp_path / str(n), pairs, batch_tokens=tokens, accumulate=n, **PLAIN)
        for n, tokens in ((n_batches, batch_tokens), (1, big))
    ]
    before = parameters(runs[0])
    for run in runs:
        assert run.run()
        assert run.progress.n_tokens == sum(len(target) + 1 for _, target in pairs)
    assert max(float((a - b).abs().max()) for a, b in zip(before, parameters(runs[0]), strict=True)) > 1e-3
    for accumulated, at_once in zip(*map(parameters, runs), strict=True):
        torch.testing.assert_close(accumulated, at_once, rtol=0, atol=1e-6)


def test_the_first_step_is_the_gradient_of_the_mean_token_loss_times_the_first_learning_rate(tmp_path: Path):
    """Worked out here from full logits; lr(1) = 16^-½ · 1 with warm-up 1."""
    pairs = reversals(10)
    run = trainer(tmp_path, pairs, batch_tokens=10_000, label_smoothing=0.2, **PLAIN)
    twin = Transformer(model_config())
    twin.load_state_dict(run.model.state_dict())
    token_losses(twin, pairs, 0.2).mean().backward()
    expected = [p.detach() - 0.25 * p.grad / (p.grad.abs() + 1) for p in twin.parameters()]
    run.run()
    for found, wanted in zip(parameters(run), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-6)


def test_the_learning_rate_follows_optimizer_steps_from_1_not_batches(tmp_path: Path):
    run = trainer(tmp_path, accumulate=3, log_every=1, warmup=4, lr_factor=2.0, steps=8)
    run.run()
    rates = [line["lr"] for line in metrics(tmp_path) if "lr" in line]
    assert rates == [learning_rate(step, 16, 4, 2.0) for step in range(1, 9)]
    assert rates[0] > 0
    assert max(rates) == rates[3]


def test_the_optimizer_is_the_papers_adam(tmp_path: Path):
    run = trainer(tmp_path)
    (group,) = run.optimizer.param_groups
    assert isinstance(run.optimizer, torch.optim.Adam)
    assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.9, 0.98), 1e-9, 0)
    assert len(group["params"]) == len(list(run.model.parameters())), "the tied matrix once"


def test_validation_is_the_mean_over_real_tokens_without_smoothing_or_dropout(tmp_path: Path):
    """exp of it is the perplexity; it does not depend on how validation pairs fall into batches."""
    validation = reversals(17, seed=2)
    model = {"p_drop": 0.5, "p_drop_attention": 0.5}
    found = []
    for tokens in (7, 40, 10_000):
        run = trainer(tmp_path / str(tokens), None, validation, model, batch_tokens=tokens, label_smoothing=0.3)
        found.append(run.validate())
        assert run.validate() == found[-1], "two validations are bit-equal"
    expected = token_losses(run.model.eval(), validation, 0.0).mean().item()
    assert found == pytest.approx([expected] * 3, rel=1e-5)


def test_validating_does_not_change_how_training_goes_on(tmp_path: Path):
    """It draws no random number and leaves dropout on again."""
    weights = []
    for every in (1, 100):
        run = trainer(tmp_path / str(every), model={"p_drop": 0.3}, validate_every=every)
        run.run()
        weights.append(parameters(run))
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))


def test_logged_losses_are_means_over_the_tokens_since_the_last_line(tmp_path: Path):
    """With one line a step and one line every four steps, weighted by tokens, the sums are the same."""
    fine, coarse = (trainer(tmp_path / str(n), log_every=n, steps=8) for n in (1, 4))
    fine.run()
    coarse.run()
    for name in ("nll", "smoothed"):
        lines = [line for line in metrics(tmp_path / "1") if name in line]
        tokens = [b["n_tokens"] - a["n_tokens"] for a, b in zip([{"n_tokens": 0}, *lines], lines, strict=False)]
        sums = [line[name] * n for line, n in zip(lines, tokens, strict=True)]
        expected = [sum(sums[i : i + 4]) / sum(tokens[i : i + 4]) for i in (0, 4)]
        found = [line[name] for line in metrics(tmp_path / "4") if name in line]
        assert found == pytest.approx(expected, rel=1e-6)


def test_the_first_logged_losses_are_those_of_the_untrained_model(tmp_path: Path):
    """nll plain, smoothed with ε, both per token."""
    pairs = reversals(10)
    run = trainer(tmp_path, pairs, batch_tokens=10_000, steps=1, label_smoothing=0.2)
    nll, smoothed = (token_losses(run.model, pairs, epsilon).mean().item() for epsilon in (0.0, 0.2))
    run.run()
    line = metrics(tmp_path)[0]
    assert line["nll"] == pytest.approx(nll, rel=1e-5)
    assert line["smoothed"] == pytest.approx(smoothed, rel=1e-5)
    assert math.log(14) - 0.5 < line["nll"] < math.log(14) + 1.5


def test_report_gets_every_line_that_is_written(tmp_path: Path):
    lines: list[dict[str, Any]] = []
    trainer(tmp_path).run(report=lines.append)
    assert lines == metrics(tmp_path)


def test_gradients_longer_than_clip_norm_are_shortened_to_it_and_logged_as_they_were(tmp_path: Path):
    """With β = 0 and ε = 1, a gradient of norm 1e-3 moves all parameters together by 1e-3 · lr."""
    free, clipped = (
        trainer(tmp_path / str(c), reversals(10), batch_tokens=10_000, clip_norm=c, **PLAIN) for c in (0.0, 1e-3)
    )
    before = torch.cat([parameter.flatten() for parameter in parameters(clipped)])
    free.run()
    clipped.run()
    moved = torch.cat([parameter.flatten() for parameter in parameters(clipped)]) - before
    assert moved.norm().item() == pytest.approx(0.25 * 1e-3, rel=1e-2)
    norms = [metrics(tmp_path / name)[0]["grad_norm"] for name in ("0.0", "0.001")]
    assert norms[0] == norms[1] > 0.1


def test_a_clip_norm_no_gradient_reaches_changes_nothing(tmp_path: Path):
    runs = [trainer(tmp_path / str(c), clip_norm=c) for c in (0.0, 1e6)]
    for run in runs:
        run.run()
    assert all(torch.equal(a, b) for a, b in zip(*map(parameters, runs), strict=True))


def test_a_seed_fixes_the_run_and_another_one_changes_it(tmp_path: Path):
    weights = []
    for number, seed in enumerate((3, 3, 4)):
        torch.manual_seed(number)
        run = trainer(tmp_path / str(number), model={"p_drop": 0.3}, seed=seed)
        run.run()
        weights.append(parameters(run))
    assert all(torch.equal(a, b) for a, b in zip(weights[0], weights[1], strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(weights[0], weights[2], strict=True))


def test_the_last_saved_steps_are_kept_and_the_newest_is_the_model(tmp_path: Path):
    run = trainer(tmp_path, save_every=1, keep=3, steps=12)
    run.run()
    assert [path.name for path in saved_steps(tmp_path)] == [f"{step}.safetensors" for step in (10, 11, 12)]
    newest, model = (read_weights(path) for path in (saved_steps(tmp_path)[-1], tmp_path / "model.safetensors"))
    assert newest.keys() == model.keys()
    assert all(torch.equal(weight, model[name]) for name, weight in newest.items())
    for name, parameter in run.model.named_parameters():
        assert torch.equal(model[name], parameter)


def test_saved_weights_are_float32_whatever_the_precision_of_the_passes(tmp_path: Path):
    exact, half = (trainer(tmp_path / p, precision=p, steps=4) for p in ("float32", "bfloat16"))
    auto = trainer(tmp_path / "auto", steps=4)
    for run in (exact, half, auto):
        run.run()
    assert all(
        weight.dtype == torch.float32 for weight in read_weights(tmp_path / "bfloat16/model.safetensors").values()
    )
    assert all(torch.equal(a, b) for a, b in zip(parameters(exact), parameters(auto), strict=True)), "on the CPU"
    losses = [[line["nll"] for line in metrics(tmp_path / p) if "nll" in line] for p in ("float32", "bfloat16")]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert losses[0] != losses[1]


def test_whether_to_stop_is_asked_in_full_precision(tmp_path: Path):
    """Who is asked may look at the model: probes are recorded there."""
    asked: list[bool] = []
    trainer(tmp_path, precision="bfloat16").validate(lambda: asked.append(torch.is_autocast_enabled("cpu")) or False)
    assert set(asked) == {False}


def test_untied_learned_pre_norm_models_train_as_well(tmp_path: Path):
    model = {"tied_embeddings": False, "positions": "learned", "norm": "pre", "activation": "gelu", "d_k": 4, "d_v": 6}
    run = trainer(tmp_path, model=model)
    before = parameters(run)
    assert run.run()
    for (name, _), a, b in zip(run.model.named_parameters(), before, parameters(run), strict=True):
        assert not torch.equal(a, b), f"{name} has not moved"


def test_pairs_longer_than_learned_positions_are_left_out_and_counted(tmp_path: Path):
    """Six positions hold five tokens and the end of the sentence."""
    pairs = [([4] * n, [5] * m) for n, m in ((5, 5), (6, 1), (1, 6), (4, 2), (9, 9))]
    run = trainer(tmp_path, pairs, reversals(4, longest=5), {"positions": "learned", "max_length": 6}, steps=2)
    assert run.n_left_out == 3
    assert run.run()
    assert trainer(tmp_path / "sinusoidal", pairs, model={"max_length": 6}).n_left_out == 0


def test_when_no_pair_fits_it_says_so_in_a_sentence(tmp_path: Path):
    with pytest.raises(ValueError, match=r"^There is no sentence pair to train on .*\.$"):
        trainer(tmp_path, [([4] * 9, [5])], model={"positions": "learned", "max_length": 6})


def test_when_no_pair_of_validation_fits_it_says_so_in_a_sentence(tmp_path: Path):
    with pytest.raises(ValueError, match=r"^There is no sentence pair to validate on .*\.$"):
        trainer(tmp_path, reversals(4, longest=5), [([4] * 9, [5])], {"positions": "learned", "max_length": 6})


def test_a_file_that_is_none_of_ours_among_the_saved_steps_stays(tmp_path: Path):
    (tmp_path / "steps").mkdir(parents=True)
    (tmp_path / "steps" / "best.safetensors").touch()
    assert trainer(tmp_path, keep=1, save_every=6).run()
    assert [path.name for path in saved_steps(tmp_path)] == ["12.safetensors"]
    assert sorted(path.name for path in (tmp_path / "steps").iterdir()) == ["12.safetensors", "best.safetensors"]


def test_it_learns_twenty_pairs_by_heart(tmp_path: Path):
    pairs = reversals(20)
    model = {"d_model": 32, "d_ff": 64, "n_heads": 4}
    run = trainer(
        tmp_path, pairs, pairs, model, steps=250, batch_tokens=200, warmup=60, label_smoothing=0.0,
        save_every=1000, log_every=250, validate_every=20,
    )  # fmt: skip
    assert run.validate() > 2
    assert learn(run, 0.05) < 0.05
    with torch.no_grad():
        for pair in pairs:
            batch = make_batch([pair])
            assert torch.equal(run.model(batch.source, batch.target_in).argmax(-1), batch.target_out)


def test_every_pair_is_seen_once_an_epoch(tmp_path: Path):
    """A model whose learning rate is nearly 0 keeps its loss: an epoch's tokens then are the corpus's."""
    pairs = reversals(40)
    n_batches = len(trainer(tmp_path / "probe", pairs).batches.epoch(0))
    run = trainer(tmp_path, pairs, steps=n_batches, lr_factor=1e-12, log_every=n_batches)
    expected = token_losses(run.model, pairs, 0.0)
    run.run()
    line = metrics(tmp_path)[-2]
    assert line["n_tokens"] == len(expected)
    assert line["nll"] == pytest.approx(expected.mean().item(), rel=1e-5)


def test_a_stop_between_saves_leaves_no_step_that_an_average_would_take_in(tmp_path: Path):
    run = trainer(tmp_path, steps=8, save_every=4, validate_every=100, log_every=100)
    run.run(should_stop=lambda: run.progress.step == 6)
    assert run.progress.step == 6
    assert [path.stem for path in saved_steps(tmp_path)] == ["4"]
    assert trainer(tmp_path, steps=8, save_every=4).progress.step == 6


def test_experts_are_kept_busy_by_a_loss_of_its_own(tmp_path: Path):
    """What is logged as smoothed grows by the weight times the load-balance losses of two layers, each about 1."""

    def first_line(balance: float) -> dict[str, Any]:
        name = f"balance {balance}"
        run = trainer(tmp_path / name, model={"n_experts": 4}, steps=1, log_every=1, balance=balance)
        run.run()
        return metrics(tmp_path / name)[0]

    without, lighter, heavier = first_line(0.0), first_line(1.0), first_line(2.0)
    added = lighter["smoothed"] - without["smoothed"]
    assert 1.9 < added < 4
    assert heavier["smoothed"] - without["smoothed"] == pytest.approx(2 * added, rel=1e-4)
    assert without["nll"] == lighter["nll"] == heavier["nll"]
    assert lighter["grad_norm"] != without["grad_norm"]
