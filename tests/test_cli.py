"""The command line: what it prints, where, and its exit codes; bad input is one sentence and never a traceback."""

import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transformer.cli import _COMMANDS, main
from transformer.commands.models import Translate
from transformer.folders import list_checkpoints
from transformer.presets import PRESETS, TABLE_3
from transformer.text.corpora import CORPORA

TINY = [
    *("--model.d-model", "16", "--model.d-ff", "16", "--model.n-heads", "2"),
    *("--model.n-encoder-layers", "1", "--model.n-decoder-layers", "1"),
    *("--train.batch-tokens", "200", "--train.vocab-size", "313", "--train.log-every", "2"),
]


def run(arguments: list[str], capsys: pytest.CaptureFixture, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
    out, err = capsys.readouterr()
    return int(leaving.value.code or 0), out, err


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory):
    """A checkpoints folder in which `trained` was trained for four steps and saved twice."""
    folder = tmp_path_factory.mktemp("runs")
    arguments = ["train", "--name", "trained", "--corpus", "reverse", *TINY]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUNDTABLE_CHECKPOINTS", str(folder))
        with pytest.raises(SystemExit) as leaving:
            main([*arguments, "--train.steps", "4", "--train.save-every", "2"])
    assert leaving.value.code == 0
    return folder


@pytest.fixture(autouse=True)
def _in_runs(runs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(runs))


def test_train_leaves_a_whole_checkpoint(runs):
    files = {path.name for path in (runs / "trained").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.model", "metrics.jsonl", "state.pt", "steps"} <= files
    assert "trained" in list_checkpoints()
    lines = [json.loads(line) for line in (runs / "trained" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "nll" in line] == [2, 4]


def test_train_resumes_to_the_same_end(runs, capsys):
    arguments = ["train", "--name", "trained", "--resume"]
    before = (runs / "trained" / "model.safetensors").read_bytes()
    code, _, _ = run(arguments, capsys)
    assert code == 0
    assert (runs / "trained" / "model.safetensors").read_bytes() == before


def test_an_existing_name_is_refused(capsys):
    code, _, err = run(["train", "--name", "trained", "--corpus", "reverse", *TINY], capsys)
    assert code == 2
    assert "already holds a checkpoint" in err


def test_ctrl_c_saves_and_says_how_to_go_on(runs):
    command = [sys.executable, "-m", "transformer", "train", "--name", "stopped", "--corpus", "reverse", *TINY]
    process = subprocess.Popen(
        [*command, "--train.steps", "100000"], stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent
    )
    metrics = runs / "stopped" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "go on with: roundtable train --name stopped --resume" in err
    assert "Traceback" not in err
    assert (runs / "stopped" / "state.pt").exists()


def test_a_run_given_by_its_path_says_how_to_go_on(runs, tmp_path, monkeypatch, capsys):
    """Wherever it lies: it need not be in the checkpoints folder."""
    elsewhere = shutil.copytree(runs / "trained", tmp_path / "elsewhere")
    monkeypatch.setattr("transformer.training.worker.lead", lambda folder, request, descriptor, *rest: False)
    code, _, err = run(["train", "--name", str(elsewhere), "--resume"], capsys)
    assert err == f"Saved at step 4; go on with: roundtable train --name {elsewhere} --resume\n"
    assert code == 130


def test_a_checkpoint_without_its_state_is_not_resumed_and_stays_as_it_is(tmp_path, runs, capsys):
    """As those are that come with Roundtable: no status is left there that would make a run of them."""
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.model"):
        shutil.copy(runs / "trained" / name, bare)
    before = sorted(bare.iterdir())
    code, _, err = run(["train", "--name", str(bare), "--resume"], capsys)
    assert code == 2
    assert err == f"roundtable: {bare} has no state.pt, without which its training cannot go on.\n"
    assert sorted(bare.iterdir()) == before


def test_ctrl_c_ends_a_command_without_a_word(monkeypatch, capsys):
    def interrupted(self) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Translate, "run", interrupted)
    assert run(["translate"], capsys) == (130, "", "")


def test_translate_reads_lines_and_keeps_empty_ones(capsys):
    code, out, _ = run(["translate", "--checkpoint", "trained", "--beam", "1"], capsys, b"a b c\n\nx y\n")
    assert code == 0
    lines = out.split("\n")
    assert len(lines) == 4
    assert lines[1] == ""


def test_translate_names_a_line_that_is_not_utf8(capsys):
    code, _, err = run(["translate", "--checkpoint", "trained"], capsys, b"a b\n\xff\xfe\n")
    assert code == 2
    assert "Line 2 of the input is not UTF-8" in err


def test_evaluate_prints_json_and_can_keep_it(runs, capsys):
    code, out, _ = run(
        ["evaluate", "--checkpoint", "trained", "--split", "validation", "--beam", "1", "--save"], capsys
    )
    assert code == 0
    scores = json.loads(out)["reverse validation"]
    assert scores["bleu"]["signature"]
    assert scores["perplexity"] > 1
    kept = json.loads((runs / "trained" / "evaluation.json").read_text())
    assert kept["reverse validation"] == scores


def test_trace_prints_a_table_and_writes_files(tmp_path, capsys):
    arguments = ["trace", "a b c", "--checkpoint", "trained", "--target", "c b a"]
    code, out, _ = run([*arguments, "--out", str(tmp_path / "t.npz")], capsys)
    assert code == 0
    assert "cross L0·mean of the heads" in out
    assert (tmp_path / "t.npz").stat().st_size
    code, _, _ = run([*arguments, "--kind", "decoder", "--head", "1", "--out", str(tmp_path / "t.csv")], capsys)
    assert code == 0
    assert (tmp_path / "t.csv").read_text("utf-8").startswith("kind,layer,head,")


def test_trace_writes_a_picture_json_and_a_report(tmp_path, capsys):
    arguments = ["trace", "a b c", "--checkpoint", "trained", "--target", "c b a", "--kind", "decoder", "--head", "1"]
    code, _, _ = run([*arguments, "--out", str(tmp_path / "t.svg"), "--html", str(tmp_path / "t.html")], capsys)
    assert code == 0
    assert "<title>Decoder self-attention, L0·H1</title>" in (tmp_path / "t.svg").read_text("utf-8")
    report = (tmp_path / "t.html").read_text("utf-8")
    assert "L0·H1. The strongest weight is from query" in report
    assert "batch_tokens" in report
    code, _, _ = run([*arguments, "--out", str(tmp_path / "t.json")], capsys)
    assert code == 0
    assert json.loads((tmp_path / "t.json").read_text("utf-8"))["translation"]["text"] == "c b a"


def test_average_replaces_the_weights_and_says_so(runs, capsys):
    code, out, _ = run(["average", "trained", "--last", "2", "--half"], capsys)
    assert code == 0
    assert "average of steps 2, 4" in out
    config = json.loads((runs / "trained" / "config.json").read_text())
    assert (config["weights"], config["step"]) == ("average of the last 2", 4)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "--name", "x"], "Say what to train on"),
        (["train", "--name", "../x", "--corpus", "reverse"], "cannot name a checkpoint"),
        (["train", "--name", "x", "--corpus", "nowhere.tsv"], "nowhere.tsv"),
        (["train", "--name", "x", "--preset", "huge"], "There is no preset 'huge'; the presets are base"),
        (["train", "--name", "x", "--model.n-heads", "3"], "ModelConfig.n_heads is 3; allowed is a divisor"),
        (["train", "--name", "x", "--train.steps", "0"], "TrainConfig.steps is 0"),
        (["train", "--name", "x", "--model.norm", "both"], "both"),
        (["train", "--name", "nobody", "--resume"], "There is no checkpoint 'nobody'"),
        (["translate", "--checkpoint", "nobody"], "There is no checkpoint 'nobody'"),
        (["translate", "--checkpoint", "/"], "is not a checkpoint: it has no config.json"),
        (["translate", "--beam", "many"], "--beam"),
        (["translate", "--checkpoint", "trained", "--beam", "0"], "beam"),
        (["evaluate", "--checkpoint", "trained", "--split", "train"], "train"),
        (["trace"], "Missing from roundtable trace"),
        (["trace", "", "--checkpoint", "trained"], "The sentence is empty"),
        (["trace", "a", "--checkpoint", "trained", "--layer", "7"], "There is no layer 7"),
        (["trace", "a", "--checkpoint", "trained", "--head", "7"], "There is no head 7"),
        (["trace", "a", "--checkpoint", "trained", "--out", "x.png"], "ends in .npz, .json, .csv, .svg or .html"),
        (["trace", "a", "--checkpoint", "trained", "--html", "x.json"], "--html is x.json; allowed is"),
        (["average", "trained", "--last", "9"], "saved steps; 9 cannot be averaged"),
        (["dance"], "dance"),
        ([], "Expected one of"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, says, capsys):
    code, out, err = run(arguments, capsys, b"a b\n")
    assert code == 2
    assert says in err
    assert out == ""
    assert len(err.strip().splitlines()) <= 2
    assert "Traceback" not in err
    assert "│" not in err


@pytest.mark.parametrize("command", ["", *_COMMANDS])
def test_every_command_has_help(command, capsys):
    code, out, _ = run([*command.split(), "--help"], capsys)
    assert code == 0
    assert len(out.splitlines()) > 5


def test_the_help_of_train_names_every_corpus_and_every_preset(capsys):
    _, out, _ = run(["train", "--help"], capsys)
    words = set(re.findall(r"[\w-]+", out))
    assert words >= set(CORPORA)
    assert words >= set(PRESETS) - set(TABLE_3)
