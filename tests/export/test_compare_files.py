"""Several models to take away: what is read back is what was compared, whatever the texts and names are."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests import hostile
from tests.analysis.hand_made import ABOUT, asymmetric, parse
from tests.export.test_report import Page
from transformer.analysis.attention import Attention
from transformer.analysis.compare import aligned, apart_from, best_matches, divergences
from transformer.analysis.trace import Trace, Translation
from transformer.export.about import About
from transformer.export.compare_files import (
    Comparison,
    Model,
    comparison_code,
    comparison_json,
    comparison_npz,
    head_rows,
    heads_csv,
    weights_csv,
)
from transformer.export.compare_report import comparison_report
from transformer.export.compare_svg import difference_svg, divergences_svg, grids_svg, opened_svg
from transformer.export.markup import visible

SVG = "{http://www.w3.org/2000/svg}"


def rows_sum_to_1(attention: Attention) -> Attention:
    total = attention.pattern.sum(-1, keepdims=True)
    return replace(attention, pattern=np.divide(attention.pattern, total, out=attention.pattern * 0, where=total > 0))


def made(*, matched: bool = True, seeds: bool = True, about: About = ABOUT) -> Comparison:
    """The second has its layers in the other order; the third has one layer of two heads."""
    first = rows_sum_to_1(asymmetric())
    others = [replace(first, pattern=first.pattern[::-1].copy()), rows_sum_to_1(asymmetric(1, 2))]
    models = [Model(replace(about, model="one"), first, (0, 0))]
    for name, other, place in (("two", others[0], (1, 0)), ("three", others[1], None)):
        pairs = divergences(first, other)
        matches = best_matches(pairs) if matched else None
        models.append(Model(replace(about, model=name), other, place, f"{name} differs", pairs, matches))
    return Comparison(
        models, matched, (models[0], replace(models[1], about=replace(about, model="seed"))) if seeds else None
    )


def test_every_head_has_its_partner_and_the_floor_comes_last():
    rows = head_rows(made())
    assert [row["model"] for row in rows] == ["two"] * 6 + ["three"] * 6 + ["seed"] * 6
    assert [row["noise_floor"] for row in rows] == [False] * 12 + [True] * 6
    two = {(row["layer"], row["head"]): (row["partner_layer"], row["partner_head"]) for row in rows[:6]}
    assert two == {(layer, head): (1 - layer, head) for layer in range(2) for head in range(3)}
    assert all(row["divergence_nats"] == pytest.approx(0, abs=1e-6) for row in rows[:6])
    alone = [row for row in rows[6:12] if row["partner_layer"] is None]
    assert len(alone) == 4
    assert {row["divergence_nats"] for row in alone} == {None}


def test_by_place_a_head_that_the_other_lacks_has_no_partner():
    rows = head_rows(made(matched=False))
    three = [
        (row["layer"], row["head"]) for row in rows if row["model"] == "three" and row["partner_layer"] is not None
    ]
    assert three == [(0, 0), (0, 1)]


def test_the_files_hold_what_was_compared():
    comparison = made()
    read = list(csv.DictReader(io.StringIO(heads_csv(comparison).decode())))
    assert len(read) == 18
    assert json.loads(read[0]["about"])["noise_floor"] == ["one", "seed"]
    cells = list(csv.DictReader(io.StringIO(weights_csv(comparison).decode())))
    assert len(cells) == sum(one.attention.pattern.size for one in comparison.models)
    with np.load(io.BytesIO(comparison_npz(comparison)), allow_pickle=False) as stored:
        assert_allclose(stored["pattern_2"], comparison.models[1].attention.pattern)
        assert stored["partner_2"].tolist() == [[[1, head] for head in range(3)], [[0, head] for head in range(3)]]
        assert (stored["partner_3"] == -1).all(-1).sum() == np.isnan(stored["divergence_3"]).sum() == 4
        assert_allclose(stored["divergence_floor"], 0, atol=1e-6)
        assert json.loads(str(stored["about"]))["models"][2]["opened"] is None
    content = json.loads(comparison_json(comparison))
    assert content["heads"][0]["partner_layer"] == 1
    assert_allclose(content["views"][0]["attention"]["pattern"], comparison.models[0].attention.pattern, rtol=1e-5)


def test_pictures_have_every_model_and_no_name_twice():
    comparison = made()
    for draw, expected in ((grids_svg, 3), (opened_svg, 4), (divergences_svg, 3)):
        root = parse(draw(comparison))
        (inner,) = root.findall(f"{SVG}svg")
        assert len(inner.findall(f"{SVG}svg")) == expected
        names = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(names) == len(set(names))
        assert json.loads(root.find(f"{SVG}metadata").text)["noise_floor"] == ["one", "seed"]
    assert len(parse(opened_svg(made(seeds=False))).findall(f"{SVG}svg/{SVG}svg")) == 3


def test_a_difference_is_signed_and_empty_where_masked():
    comparison = made(matched=False)
    one, two = comparison.models[:2]
    cells = {element.get("data-cell"): element[0].text for element in parse(difference_svg(one, two)).iter()
             if element.get("data-cell")}  # fmt: skip
    expected = two.attention.pattern[1, 0] - one.attention.pattern[0, 0]
    assert len(cells) == one.attention.mask.sum()
    assert cells["1,3"].endswith(f": {expected[1, 3]:+.3f}".replace("-", "−"))


def test_what_does_not_compare_is_said_in_a_sentence():
    first = made().models[0]
    with pytest.raises(ValueError, match=r"^These models are over other tokens .*\.$"):
        divergences_svg(Comparison([first, replace(first, pairs=None)], True))
    with pytest.raises(ValueError, match=r"^No model has the opened head; .*\.$"):
        opened_svg(Comparison([replace(first, place=None)], True))


def trace_of(comparison: Comparison, text: str) -> Trace:
    cross = comparison.models[0].attention
    square = replace(cross, pattern=np.zeros((2, 3, 3, 3), np.float32), scores=None, mask=np.ones((3, 3), bool),
                     keys=cross.queries)  # fmt: skip
    translation = Translation(text, True, (-0.1, -0.2, -0.3), -0.5)
    encoder = replace(square, kind="encoder", queries=cross.queries)
    return Trace("one", 1, text, translation, encoder, replace(square, kind="decoder"), cross)


@pytest.mark.parametrize("start", range(0, len(hostile.TEXTS), 8))
def test_a_report_shows_hostile_texts_and_runs_none(start: int):
    """Eight texts a report: as the sentence, the target, the names of models and what changed in them."""
    texts = (list(hostile.TEXTS.values()) * 2)[start : start + 8]
    comparison = made(about=About("x", 1, texts[0], texts[1]))
    models = [
        replace(one, about=replace(one.about, model=texts[2 + at]), changed=texts[5 + at])
        for at, one in enumerate(comparison.models)
    ]
    comparison = replace(comparison, models=models)
    page = Page(comparison_report(comparison, [trace_of(comparison, texts[0])] * 3))
    assert "script" not in page.elements
    assert "img" not in page.elements
    assert any(visible(texts[0]) == text for name, found in page.texts.items() if "source" in name for text in found)
    shown = " ".join(text for found in page.texts.values() for text in found)
    assert visible(texts[2]) in shown
    assert visible(texts[7]) in shown


def test_a_report_says_where_there_is_no_second_seed():
    comparison = made(seeds=False)
    html = comparison_report(comparison, [trace_of(comparison, "x")] * 3)
    assert "No second seed of these models is there." in html
    assert "two differs" in html
    assert html.count("<figure>") == 3


@pytest.mark.parametrize(("target", "matched"), [(None, True), ("Das Tier war müde.", False)])
def test_the_code_gives_the_same_numbers(checkpoint, monkeypatch, target: str | None, matched: bool):
    monkeypatch.setattr("transformer.load_checkpoint", {"one": checkpoint, "two": checkpoint.untrained()}.get)
    sentence = 'The "animal" was tired.'
    held: dict = {}
    exec(comparison_code(["one", "two"], sentence, target, "encoder", one_target=True, matched=matched), held)
    both = [each.trace(sentence, "x")["encoder"] for each in (checkpoint, checkpoint.untrained())]
    pairs = divergences(*aligned(both).attentions)
    expected = apart_from(pairs, best_matches(pairs) if matched else None)
    assert_allclose(held["apart"][0], expected, atol=1e-6)
    assert "retrace(other" in comparison_code(["one"], "x", None, "cross", one_target=True, matched=True)
    assert "target" not in comparison_code(["one"], "x", "y", "cross", one_target=False, matched=True)
