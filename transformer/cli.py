"""The command `roundtable`: a dataclass a subcommand, whose fields are its options and whose run() does the work."""

import io
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

import tyro

from transformer.ablate_command import Ablate
from transformer.align_command import Align
from transformer.config import ModelConfig, TrainConfig
from transformer.folders import check_name, find_checkpoint, runs_folder
from transformer.presets import get_preset
from transformer.run_commands import Runs

if TYPE_CHECKING:
    from transformer.training.request import RunRequest

_FILE_BATCH = 64


@dataclass
class Train:
    """Train a model, in a new folder of that name, or go on with one that stopped. Ctrl-C saves and stops."""

    name: str
    """What to call it; the folder lies in $ROUNDTABLE_CHECKPOINTS, by default ./checkpoints."""
    corpus: str = ""
    """copy | reverse | sort | reverse-small | tatoeba | multi30k, a file.tsv, or source.txt,target.txt."""
    resume: bool = False
    """Go on where the run of this name was last saved; all other options then have no effect."""
    minutes: float | None = None
    """How long to train, instead of train.steps: turned into steps and warmup by the speed of the first seconds."""
    epochs: float | None = None
    """How often to see every sentence pair, instead of train.steps."""
    device: str = "auto"
    """auto | cpu | mps | cuda | cuda:N; auto is the first GPU, else the CPU. One run at a time uses it, others wait."""
    probes: tuple[str, ...] = ()
    """Sentences whose patterns are kept on the way, in probes.npz; a target may follow after a tab."""
    preset: str = "small"
    """Starting values for the model and train options below: base, big, a row of Table 3 such as A-h1, tiny, small,
    reverse-small."""
    model: ModelConfig = field(default_factory=lambda: get_preset("small").model)
    train: TrainConfig = field(default_factory=lambda: get_preset("small").train)

    def run(self) -> int:
        from transformer.training.distributed import World
        from transformer.training.launch import create, inherited_lock, reopen
        from transformer.training.request import read_request
        from transformer.training.runs import get_run
        from transformer.training.worker import follow, lead

        world = World.from_environment()
        folder = _run_folder(self.name) if self.resume else runs_folder() / check_name(self.name)
        if not world.leads:
            request = read_request(folder) if self.resume else self._request()
            return 0 if follow(folder, request, world) else 130
        if self.resume:
            descriptor = inherited_lock(folder)
            descriptor = reopen(folder) if descriptor is None else descriptor
        else:
            folder, descriptor = create(self._request())
        request = read_request(folder)
        finished = lead(folder, request, descriptor, _say, world)
        if not finished:
            _say(f"Saved at step {get_run(folder.name).step}; go on with: roundtable train --name {self.name} --resume")
        return 0 if finished else 130

    def _request(self) -> "RunRequest":
        from transformer.training.request import RunRequest

        if not self.corpus:
            raise ValueError("Say what to train on: --corpus NAME or --corpus FILE.tsv.")
        names = ("name", "corpus", "model", "train", "preset", "minutes", "epochs", "device", "probes")
        return RunRequest(**{name: getattr(self, name) for name in names})


@dataclass
class Translate:
    """Translate standard input, line by line, to standard output."""

    checkpoint: str = "everyday-en-de"
    """Name of a checkpoint, or its folder."""
    beam: int = 4
    """Hypotheses kept at each step; 1 is greedy."""
    alpha: float = 0.6
    """Exponent of the length penalty."""

    def run(self) -> int:
        from transformer.checkpoint import load_checkpoint

        checkpoint = load_checkpoint(self.checkpoint)
        for lines in _chunks(_input_lines(), 1 if sys.stdin.isatty() else _FILE_BATCH):
            texts = [line for line in lines if line.strip()]
            translations = iter(checkpoint.translate(texts, self.beam, self.alpha) if texts else [])
            for line in lines:
                print(next(translations) if line.strip() else "", flush=True)
        return 0


@dataclass
class Evaluate:
    """Perplexity, BLEU and chrF of a checkpoint on a corpus, as JSON."""

    checkpoint: str = "everyday-en-de"
    """Name of a checkpoint, or its folder."""
    corpus: str = ""
    """As in train; by default what the checkpoint was trained on."""
    split: Literal["validation", "test"] = "test"
    """Which part of the corpus."""
    beam: int = 4
    """Hypotheses kept at each step; 1 is greedy."""
    alpha: float = 0.6
    """Exponent of the length penalty."""
    save: bool = False
    """Also keep the result in the checkpoint's evaluation.json."""

    def run(self) -> int:
        from transformer.checkpoint import load_checkpoint
        from transformer.evaluate import evaluate, save_evaluation
        from transformer.text.corpora import load_corpus

        checkpoint = load_checkpoint(self.checkpoint)
        corpus = load_corpus(self.corpus or _trained_on(checkpoint.folder), notify=_say)
        result = evaluate(checkpoint, corpus.pairs(self.split), beam=self.beam, alpha=self.alpha)
        print(json.dumps({f"{corpus.name} {self.split}": result}, indent=2, ensure_ascii=False))
        if self.save:
            save_evaluation(checkpoint.folder, f"{corpus.name} {self.split}", result)
        return 0


@dataclass
class TraceCommand:
    """Show whom the words of a sentence attend to, and keep every head's pattern in a file."""

    sentence: Annotated[str, tyro.conf.Positional]
    """What the model reads."""
    checkpoint: str = "everyday-en-de"
    """Name of a checkpoint, or its folder."""
    target: str | None = None
    """What the decoder is given to write; by default the model's own translation."""
    kind: Literal["encoder", "decoder", "cross"] = "cross"
    """Which attention to print."""
    layer: int = -1
    """Layer to print, counted from 0; -1 is the last."""
    head: int | None = None
    """Head to print, counted from 0; by default the mean over the layer's heads."""
    out: Path | None = None
    """File for all heads of all kinds, .npz (transformer.load_trace reads it), .json or .csv; or .svg, a picture of the
    kind's heads, of one with --head; or .html, a report to read offline or print."""
    html: Path | None = None
    """File for the report: sentence, maps of the three kinds, scores and configuration."""

    def run(self) -> int:
        from transformer.analysis.files import check_suffix, write_trace
        from transformer.analysis.table import pattern_table
        from transformer.checkpoint import load_checkpoint

        files = [path for path in (self.out, self.html) if path is not None]
        for path in files:
            check_suffix(path)
        if self.html is not None and self.html.suffix != ".html":
            raise ValueError(f"--html is {self.html}; allowed is a file that ends in .html.")
        checkpoint = load_checkpoint(self.checkpoint)
        trace = checkpoint.trace(self.sentence, self.target)
        table = pattern_table(trace[self.kind], self.layer, self.head)
        print(f"{trace.target_text}\nlog-probability {trace.translation.log_prob:.2f}\n\n{table}")
        head = None if self.head is None else (self.layer % len(trace[self.kind].layers), self.head)
        about = {"config": asdict(checkpoint.config), "evaluation": checkpoint.evaluation}
        for path in files:
            write_trace(path, trace, self.kind, head, **about)
        return 0


@dataclass
class Average:
    """Replace a checkpoint's weights by the mean of the last ones it saved while training."""

    checkpoint: Annotated[str, tyro.conf.Positional]
    """Name of a checkpoint, or its folder."""
    last: int = 5
    """How many saved steps to average; the paper takes 5 for base and 20 for big."""
    half: bool = False
    """Keep the mean in float16, at half the size."""

    def run(self) -> int:
        from transformer.training.average import average_checkpoint

        steps = average_checkpoint(find_checkpoint(self.checkpoint), self.last, self.half)
        print(f"{self.checkpoint} now holds the average of steps {', '.join(map(str, steps))}.")
        return 0


_COMMANDS = {
    "train": Train,
    "translate": Translate,
    "evaluate": Evaluate,
    "align": Align,
    "trace": TraceCommand,
    "average": Average,
    "ablate": Ablate,
    "runs": Runs,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code: 2, after one sentence, for bad input."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    warnings.formatwarning = lambda message, *_: f"{message}\n"
    try:
        sys.exit(_parse(arguments).run())
    except (ValueError, OSError) as error:
        _say(f"roundtable: {error}")
        sys.exit(2)


def _parse(arguments: list[str]) -> Any:
    name = _preset_name(arguments)
    preset = get_preset(name)
    train = Train(name=tyro.MISSING, preset=name, model=preset.model, train=preset.train)
    commands = [
        Annotated[command, tyro.conf.subcommand(word, default=train if command is Train else tyro.MISSING_NONPROP)]
        for word, command in _COMMANDS.items()
    ]
    box = io.StringIO()
    try:
        with redirect_stderr(box):
            return tyro.cli(
                Union[tuple(commands)],  # type: ignore[arg-type]  # noqa: UP007
                prog="roundtable",
                description=_ABOUT,
                args=arguments,
                config=(tyro.conf.OmitSubcommandPrefixes,),
            )
    except SystemExit as leaving:
        if leaving.code:
            raise ValueError(_sentence(box.getvalue())) from None
        raise


_ABOUT = "Train encoder–decoder Transformers and see whom every attention head listens to."


def _preset_name(arguments: Sequence[str]) -> str:
    for index, argument in enumerate(arguments):
        if argument == "--preset" and index + 1 < len(arguments):
            return arguments[index + 1]
        if argument.startswith("--preset="):
            return argument.partition("=")[2]
    return "small"


def _sentence(box: str) -> str:
    """What tyro prints in a box, as one sentence: the lines of the box up to its first rule."""
    words: list[str] = []
    for line in box.splitlines():
        text = line.strip("╭╮╰╯│─ ")
        if words and line.strip("│ ").startswith("──"):
            break
        if text and not line.startswith("╭"):
            words.append(text)
    sentence = " ".join(words).replace("__tyro-dummy-inner__.", "--").removesuffix(".")
    return sentence + " (roundtable --help says more)."


def _run_folder(name: str) -> Path:
    """The folder of a run that has begun, or has been asked for."""
    folder = Path(name) if os.sep in name else runs_folder() / check_name(name)
    return folder if (folder / "run.json").is_file() else find_checkpoint(name)


def _trained_on(folder: Path) -> str:
    from transformer.checkpoint import read_config
    from transformer.training.request import UPLOAD_FILE, read_request

    request = read_request(folder)
    if request is None:
        return read_config(folder).corpus["name"]
    return str(folder / UPLOAD_FILE) if request.uploaded else request.corpus


def _input_lines() -> Iterator[str]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"Line {number} of the input is not UTF-8: {error.reason}.") from error


def _chunks(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(islice(lines, size)):
        yield chunk


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
