"""metrics.jsonl, read while it grows, is torn, and is cut back."""

import json

from transformer.training.metrics import MetricsReader, cut_metrics, read_metrics


def line(step: int, **values) -> str:
    return json.dumps({"step": step, **values}) + "\n"


def test_only_what_is_new_is_read(tmp_path):
    path, reader = tmp_path / "metrics.jsonl", MetricsReader(tmp_path)
    assert not reader.update()
    path.write_text(line(1, nll=2.0) + line(2, nll=1.5))
    assert reader.update()
    assert not reader.update()
    with path.open("a") as file:
        file.write(line(2, validation_nll=1.75))
    assert reader.update()
    assert reader.lines == [{"step": 1, "nll": 2.0}, {"step": 2, "nll": 1.5}, {"step": 2, "validation_nll": 1.75}]


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path):
    path, reader = tmp_path / "metrics.jsonl", MetricsReader(tmp_path)
    whole = line(1, nll=2.0) + line(2, nll=1.5)
    for length in range(len(whole) + 1):
        path.write_text(whole[:length])
        reader.update()
        assert len(reader.lines) == whole[:length].count("\n")
    assert reader.lines == [{"step": 1, "nll": 2.0}, {"step": 2, "nll": 1.5}]


def test_a_resume_cuts_the_lines_back(tmp_path):
    path, reader = tmp_path / "metrics.jsonl", MetricsReader(tmp_path)
    path.write_text(line(1) + line(2) + line(3))
    reader.update()
    shorter = tmp_path / "new"
    shorter.write_text(line(1))
    shorter.replace(path)
    assert reader.update()
    assert reader.lines == [{"step": 1}]


def test_a_cut_that_has_grown_past_the_old_end_is_noticed(tmp_path):
    path, reader = tmp_path / "metrics.jsonl", MetricsReader(tmp_path)
    path.write_text(line(1) + line(2))
    reader.update()
    longer = tmp_path / "new"
    longer.write_text(line(1) + line(22) + line(33) + line(44))
    longer.replace(path)
    assert reader.update()
    assert [values["step"] for values in reader.lines] == [1, 22, 33, 44]


def test_what_is_no_line_of_metrics_is_left_out(tmp_path):
    (tmp_path / "metrics.jsonl").write_bytes(b'nonsense\n\xff\xfe\n[1]\n{"loss": 1}\n' + line(3).encode())
    assert read_metrics(tmp_path) == [{"step": 3}]


def test_a_file_that_goes_away_leaves_no_lines(tmp_path):
    path, reader = tmp_path / "metrics.jsonl", MetricsReader(tmp_path)
    path.write_text(line(1))
    reader.update()
    path.unlink()
    assert reader.update()
    assert reader.lines == []


def test_a_cut_ends_at_the_first_line_that_is_none(tmp_path):
    """As a machine that lost its power leaves them: blocks of zeros, and whole lines after them."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(line(1).encode() + line(2).encode() + b"\0\0\0\n" + line(3).encode())
    cut_metrics(path, 5)
    assert read_metrics(tmp_path) == [{"step": 1}, {"step": 2}]
    cut_metrics(path, 1)
    assert read_metrics(tmp_path) == [{"step": 1}]
