"""JSON, CSV and NPZ: what is read back is what was written, whatever the text; too much is refused in one sentence."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests import hostile
from tests.analysis.hand_made import ABOUT, asymmetric, parse
from tests.export.test_report import Page, made
from transformer import __version__
from transformer.analysis.trace import KINDS, Trace, Translation, load_trace
from transformer.export.about import About
from transformer.export.files import write_trace
from transformer.export.formats import trace_csv, trace_npz, view_csv, view_npz
from transformer.export.trace_json import load_trace_json, trace_json, view_json


@pytest.fixture(scope="module")
def trace(checkpoint) -> Trace:
    return checkpoint.trace("The animal was tired.", "Das Tier war müde.")


def read_back(content: bytes, folder: Path) -> Trace:
    path = folder / "trace.json"
    path.write_bytes(content)
    return load_trace_json(path)


def same(one: Trace, other: Trace) -> None:
    for name in ("model", "step", "source_text"):
        assert getattr(one, name) == getattr(other, name)
    assert (one.translation.text, one.translation.generated) == (other.translation.text, other.translation.generated)
    assert_allclose(one.translation.token_log_probs, other.translation.token_log_probs, rtol=1e-5)
    assert_allclose(one.translation.score, other.translation.score, rtol=1e-5)
    for kind in KINDS:
        ours, theirs = one[kind], other[kind]
        for name in ("kind", "queries", "keys", "read", "layers", "heads"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert_array_equal(ours.mask, theirs.mask)
        assert theirs.pattern.dtype == np.float32
        assert_allclose(ours.pattern, theirs.pattern, rtol=5.1e-6, atol=1e-30)
        assert (ours.scores is None) == (theirs.scores is None)
        if ours.scores is not None:
            assert_allclose(ours.scores, theirs.scores, rtol=5.1e-6, atol=1e-30)


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_comes_back_from_every_file(text, checkpoint, tmp_path):
    traced = checkpoint.trace(text, text)
    trace = replace(traced, **{kind: traced[kind].words().mean() for kind in KINDS})
    content = trace_json(trace)
    assert content.decode("utf-8").startswith('{"schema":"roundtable.trace","schema_version":1,"version":')
    same(trace, read_back(content, tmp_path))
    assert json.loads(view_json(trace.encoder, replace(ABOUT, sentence=text)))["about"]["sentence"] == text
    (tmp_path / "trace.npz").write_bytes(trace_npz(trace))
    assert load_trace(tmp_path / "trace.npz").source_text == text
    words = trace.cross
    table = pd.read_csv(io.BytesIO(view_csv(words, ABOUT)), keep_default_na=False)
    assert table["query"].astype(str).tolist() == words.to_frame()["query"].tolist()
    assert table["key"].astype(str).tolist() == words.to_frame()["key"].tolist()
    assert_allclose(table["weight"], words.pattern.ravel(), rtol=1e-6)


def test_a_whole_trace_comes_back(trace, tmp_path):
    same(trace, read_back(trace_json(trace), tmp_path))


def as_frame(content: bytes) -> tuple[str, list[str]]:
    """A CSV file without its last column, as pandas writes it, and that column."""
    table = pd.read_csv(io.BytesIO(content), keep_default_na=False, dtype=str)
    return table.drop(columns="about").to_csv(index=False, lineterminator="\n"), table["about"].tolist()


def test_the_csv_is_the_frame_and_says_in_its_first_row_what_it_is_of(trace):
    for content, frame, facts in (
        (trace_csv(trace), trace.to_frame(), About.of(trace).facts()),
        (view_csv(trace.decoder, ABOUT), trace.decoder.to_frame(), ABOUT.facts(trace.decoder)),
    ):
        table, about = as_frame(content)
        assert table == frame.to_csv(index=False, lineterminator="\n")
        assert json.loads(about[0]) == facts
        assert set(about[1:]) == {""}


def test_a_kind_without_scores_has_empty_ones_in_the_table_of_all(trace):
    mixed = replace(trace, encoder=trace.encoder.words())
    assert as_frame(trace_csv(mixed))[0] == mixed.to_frame().to_csv(index=False, lineterminator="\n")


def test_json_holds_nothing_else_and_is_not_transposed():
    content = json.loads(view_json(asymmetric(), ABOUT))
    assert list(content) == ["schema", "schema_version", "version", "about", "attention"]
    assert (content["schema"], content["schema_version"], content["version"]) == ("roundtable.view", 1, __version__)
    assert (content["about"]["model"], content["about"]["step"], content["about"]["view"]) == ("model", 1200, "words")
    attention = content["attention"]
    assert_allclose(attention["pattern"], asymmetric().pattern, rtol=1e-5)
    assert_allclose(attention["scores"], asymmetric().scores, rtol=1e-5)
    assert attention["mask"] == asymmetric().mask.tolist()
    assert attention["keys"]["labels"] == ["k0", "k1", "k2", "k3"]


def test_numbers_have_six_digits_whatever_their_size():
    attention = asymmetric(1, 1)
    numbers = [1 / 3, 2 / 3 * 1e-9, 0.0, 1.0, 123456.789, -9876543.0, 1e-38, 3e38, 0.1, 1e-45, -1 / 7, 0.9999996]
    attention.pattern[0, 0] = np.array(numbers, np.float32).reshape(3, 4)
    text = view_json(attention, ABOUT).decode("utf-8")
    written = text[text.index('"pattern":[[[[') + 14 :].split("]]]]")[0].replace("],[", ",").split(",")
    assert all(len(number.strip("-").partition("e")[0].replace(".", "").strip("0")) <= 6 for number in written)
    assert_allclose([float(number) for number in written], attention.pattern.ravel().astype(np.float64), rtol=5.1e-6)


def test_what_is_not_finite_is_said_and_read_back(tmp_path):
    trace = made(asymmetric())
    trace.cross.pattern[0, 0, 0, :3] = [np.nan, np.inf, -np.inf]
    worst = replace(trace, translation=Translation("t", False, (-np.inf, np.nan, -1.0), -np.inf))
    content = trace_json(worst)
    json.loads(content, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert json.loads(content)["cross"]["pattern"][0][0][0][:3] == ["NaN", "Infinity", "-Infinity"]
    back = read_back(content, tmp_path)
    assert_array_equal(back.cross.pattern[0, 0, 0, :3], [np.nan, np.inf, -np.inf])
    assert_array_equal(back.translation.token_log_probs, [-np.inf, np.nan, -1.0])


def test_half_a_surrogate_pair_is_written_as_json_says_it(tmp_path):
    broken = replace(made(asymmetric()), source_text="a\udc80\\b")
    assert read_back(trace_json(broken), tmp_path).source_text == "a\udc80\\b"


def test_a_view_as_npz_names_its_axes(trace):
    words = trace.cross.words()
    with np.load(io.BytesIO(view_npz(words, ABOUT)), allow_pickle=False) as stored:
        assert_array_equal(stored["pattern"], words.pattern)
        assert_array_equal(stored["mask"], words.mask)
        assert tuple(stored["queries"]) == words.queries.labels
        assert tuple(stored["keys"]) == words.keys.labels
        assert "scores" not in stored.files
        assert json.loads(str(stored["about"]))["model"] == "model"
    with np.load(io.BytesIO(view_npz(trace.cross, ABOUT)), allow_pickle=False) as stored:
        assert_array_equal(stored["scores"], trace.cross.scores)


def test_too_much_is_refused_and_says_what_to_do(trace, monkeypatch):
    monkeypatch.setattr("transformer.export.formats.MOST_ROWS", 10)
    monkeypatch.setattr("transformer.export.trace_json.MOST_NUMBERS", 10)
    with pytest.raises(
        ValueError, match=r"^There are 72 weights, and a CSV file takes 10; NPZ holds them all, or choose .*\.$"
    ):
        view_csv(asymmetric(), ABOUT)
    with pytest.raises(
        ValueError, match=r"^There are 144 weights and scores, and a JSON file takes 10; NPZ holds .*\.$"
    ):
        view_json(asymmetric(), ABOUT)
    with pytest.raises(ValueError, match="weights and scores"):
        trace_json(trace)


def changed(trace: Trace, **fields) -> bytes:
    return json.dumps(json.loads(trace_json(trace)) | fields).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe", "decode"),
        (b"[" * 100_000, "recursion"),
        (b"[]", "it has no schema 'roundtable.trace'"),
        (b'{"schema": "roundtable.view"}', "it has no schema 'roundtable.trace'"),
        (b'{"schema": "roundtable.trace"}', "it has no 'schema_version'"),
        (b'{"schema": "roundtable.trace", "schema_version": 2}', "its schema version is 2, and this version reads 1"),
        (b'{"schema": "roundtable.trace", "schema_version": 1}', "it has no 'translation'"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_one_sentence(content, said, tmp_path):
    with pytest.raises(ValueError, match=rf"^{tmp_path}/trace.json is not a trace in Roundtable's JSON: .*{said}.*\.$"):
        read_back(content, tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"pattern": [[[[0.5]]]]},
            "cross.pattern has shape (1, 1, 1, 1), but its layers, heads and tokens say (2, 3, 3, 4)",
        ),
        ({"mask": [[True]]}, "cross.mask has shape (1, 1)"),
        ({"scores": [[1.0]]}, "cross.scores has shape (1, 1)"),
        ({"pattern": "much"}, "could not convert string to float"),
        ({"pattern": [[1.0], [1.0, 2.0]]}, "inhomogeneous"),
        ({"heads": 3}, "not iterable"),
        ({"queries": {"pieces": ["a"], "labels": [], "words": [], "special": []}}, "differ in number"),
        ({"keys": None}, "NoneType"),
    ],
)
def test_a_trace_that_does_not_fit_together_is_refused(change, said, tmp_path):
    trace = made(asymmetric())
    cross = json.loads(trace_json(trace))["cross"] | change
    with pytest.raises(ValueError, match=r"is not a trace in Roundtable's JSON: ") as refusal:
        read_back(changed(trace, cross=cross), tmp_path)
    assert said in str(refusal.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere\.json is not a trace in Roundtable's JSON: "):
        load_trace_json(tmp_path / "nowhere.json")


def test_the_name_of_a_file_says_what_is_in_it(trace, tmp_path):
    for name in ("t.npz", "t.json", "t.csv", "t.svg", "head.svg", "t.html"):
        write_trace(tmp_path / name, trace, "decoder", (1, 2) if name.startswith("head") else None)
    same(trace, load_trace(tmp_path / "t.npz"))
    same(trace, load_trace_json(tmp_path / "t.json"))
    assert (tmp_path / "t.csv").read_bytes() == trace_csv(trace)
    titles = [parse((tmp_path / name).read_text("utf-8"))[0].text for name in ("t.svg", "head.svg")]
    assert titles == ["Decoder self-attention, all heads", "Decoder self-attention, L1·H2"]
    assert Page((tmp_path / "t.html").read_text("utf-8")).elements.count("svg") == 6
    assert len(list(tmp_path.iterdir())) == 6


def test_an_unknown_kind_of_file_is_refused(trace, tmp_path):
    with pytest.raises(
        ValueError, match=r"x\.png; allowed is one that ends in \.npz, \.json, \.csv, \.svg or \.html\.$"
    ):
        write_trace(tmp_path / "x.png", trace, "cross")
    assert not list(tmp_path.iterdir())
