"""What the form "Train a model" offers, and the request that its answers make. Knows no widget, imports no torch."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from transformer import folders
from transformer.config import ConfigError, ModelConfig, TrainConfig
from transformer.folders import CheckpointError, check_name, runs_folder
from transformer.presets import PRESETS
from transformer.text.algorithmic import LETTERS, LONGEST, SMALLER, TASKS
from transformer.text.corpora import CORPORA, DOWNLOADS
from transformer.text.downloads import MULTI30K_SHA256, cache_folder, data_folder
from transformer.training.budget import over_steps
from transformer.training.estimate import Estimate
from transformer.training.request import RunRequest

OWN = "my own text"
"""The corpus that is a file somebody brings."""
NUMBERS = {
    "n_heads": "Heads, n_heads",
    "d_model": "Width, d_model",
    "d_k": "Query and key width, d_k",
    "d_v": "Value width, d_v",
    "n_encoder_layers": "Encoder layers",
    "n_decoder_layers": "Decoder layers",
    "d_ff": "Feed-forward width, d_ff",
    "batch_tokens": "Tokens a batch",
    "p_drop": "Dropout",
    "label_smoothing": "Label smoothing",
}
"""Fields that the form changes by a number, in its order, with their labels."""
UNITS = ("steps", "epochs", "minutes")
_FIRST = ("reverse-small", "tiny", "small")
_A_SAVE = 12
"""Bytes for each trained number in state.pt; in the weights beside it 4."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What the form's fields say."""

    corpus: str
    preset: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of ModelConfig and TrainConfig that differ from the preset's."""
    unit: str = "steps"
    amount: float = 1
    device: str = "auto"
    seed: int = 1
    name: str = ""
    """Empty for a name that tells corpus and preset."""
    probes: tuple[str, ...] = ()
    file: str = ""
    """The name of the file that is the corpus, where it is somebody's own."""


def corpora() -> tuple[str, ...]:
    return (*CORPORA, OWN)


def presets() -> tuple[str, ...]:
    """Those for a short run first, then the others, and the paper's own last."""
    paper = [name for name in PRESETS if PRESETS[name].train.batch_tokens >= PRESETS["base"].train.batch_tokens]
    return tuple(dict.fromkeys((*_FIRST, *(name for name in PRESETS if name not in paper), *paper)))


def first_preset(corpus: str) -> str:
    """The preset to start from: that of the corpus, or a small one."""
    own = (name for name in presets() if name == corpus or name.endswith(f"-{corpus}"))
    return next(own, "tiny" if corpus in TASKS else "small")


def word_fields() -> dict[str, tuple[str, ...]]:
    """Fields that are one of several words, with these words, as ModelConfig and TrainConfig declare them."""
    found = {each.name: each.type for config in (ModelConfig, TrainConfig) for each in fields(config)}
    return {name: get_args(kind) for name, kind in found.items() if get_origin(kind) is Literal}


def label(name: str) -> str:
    """What a field of words is called in the form."""
    return name.replace("_", " ").capitalize()


def preset_values(preset: str) -> dict[str, Any]:
    """Every field of a preset's model and training."""
    return asdict(PRESETS[preset].train) | asdict(PRESETS[preset].model)


def describe_preset(preset: str) -> str:
    model = PRESETS[preset].model
    layers = f"{model.n_encoder_layers} + {model.n_decoder_layers}"
    return f"{layers} layers of {model.n_heads} heads, d_model {model.d_model}, d_ff {model.d_ff}"


def describe_changes(changes: Mapping[str, Any]) -> str:
    """What differs from the preset, in one line."""
    shown = (value if isinstance(value, str) else f"{name} {value}" for name, value in changes.items())
    return ", ".join(shown)


def describe_corpus(corpus: str) -> str:
    """What a corpus is, its licence, and what getting it costs, in Markdown."""
    if corpus in DOWNLOADS:
        about = DOWNLOADS[corpus]
        where = "on this machine" if is_here(corpus) else f"downloads about {about.size / 1e6:.0f} MB when it starts"
        return f"English → German, {where}. Licence: {about.licence}. From {about.attribution}."
    if corpus in TASKS:
        n_letters, longest = SMALLER.get(corpus, (LETTERS, LONGEST))
        what = corpus.partition("-")[0]
        return f"Made here, free of any licence: {what} strings of 1 to {longest} of {n_letters} letters."
    return "A TSV in UTF-8: source, one tab, target on each line. It stays on this machine."


def is_here(corpus: str) -> bool:
    """Whether a corpus needs no download."""
    if corpus == "multi30k":
        folder = cache_folder() / "multi30k-en-de"
        return data_folder(folder.name) is not None or all((folder / name).is_file() for name in MULTI30K_SHA256)
    if corpus == "tatoeba":
        return data_folder("tatoeba-en-de") is not None or (cache_folder() / "tatoeba-en-de/deu-eng.zip").is_file()
    return True


def first_budget(preset: str) -> tuple[str, dict[str, float]]:
    """The unit to start with, and an amount for each: a preset that is made for a short run keeps its steps."""
    steps = PRESETS[preset].train.steps
    return ("steps" if steps <= 1000 else "minutes"), {"steps": steps, "epochs": 1.0, "minutes": 3.0}


def suggested_name(corpus: str, preset: str, changes: Mapping[str, Any] | None = None) -> str:
    """A free name that tells what the run is."""
    words = [str(value) for value in (changes or {}).values() if isinstance(value, str)]
    parts = [preset] if preset == corpus or preset.endswith(f"-{corpus}") else [corpus, preset]
    letters = "".join(char if char.isalnum() or char in "-_." else " " for char in "-".join([*parts, *words]))
    stem = "-".join(letters.split()).lstrip("-.")[:50] or "run"
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 1_000_000))
    return next(name for name in names if not _is_taken(name))


def request_of(answers: Answers) -> RunRequest:
    """The run that the answers ask for. Raises ValueError, in one sentence, for what is not allowed."""
    own = answers.corpus == OWN
    if own and not answers.file:
        raise ConfigError("There is no text yet: upload a TSV, or choose another corpus.")
    corpus = Path(answers.file).name if own else answers.corpus
    name = answers.name.strip() or suggested_name(Path(corpus).stem if own else corpus, answers.preset, answers.changes)
    if _is_taken(check_name(name)):
        raise CheckpointError(f"There is a checkpoint {name} already; choose another name.")
    budget = {} if answers.unit == "steps" else {answers.unit: float(answers.amount)}
    changes = {**answers.changes, "seed": answers.seed}
    request = RunRequest.from_preset(
        name, corpus, answers.preset, changes, device=answers.device, probes=answers.probes, uploaded=own, **budget
    )
    if answers.unit != "steps":
        return request
    if answers.amount < 1:
        raise ConfigError(f"steps is {answers.amount:g}; allowed is a whole number of at least 1.")
    return replace(request, train=over_steps(request.train, int(answers.amount)))


def refusal(size: Estimate, keep: int) -> str | None:
    """Why a run of this size is not started, in one sentence; None where nothing speaks against it."""
    if not size.fits:
        return (
            f"It needs about {as_bytes(size.memory)} of memory, and {size.device.name} has "
            f"{as_bytes(size.device.memory)}: choose fewer layers, a smaller d_model, or fewer tokens a batch."
        )
    needed = size.parameters * (_A_SAVE + 4 * (keep + 1))
    free = shutil.disk_usage(next(folder for folder in _with_parents(runs_folder()) if folder.exists())).free
    if needed > free:
        return f"Its files take about {as_bytes(needed)}, and {as_bytes(free)} are free: free some space first."
    return None


def as_probes(text: str, otherwise: str) -> tuple[str, ...]:
    """The sentences of a text, one a line; where it has none, the other one."""
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    return lines or (otherwise,)


def first_probe(corpus: str, sentence: str, example: str) -> str:
    """The sidebar's sentence, or the example where the corpus is a task of letters and the sentence has none."""
    letters = sentence.split()
    fits = bool(letters) and all(len(letter) == 1 and letter.isalpha() for letter in letters)
    return sentence if sentence.strip() and (fits or corpus not in TASKS) else example


def as_bytes(number: float) -> str:
    """A size as people read it."""
    return f"{number / 2**30:.1f} GiB" if number >= 1000 * 2**20 else f"{max(1, round(number / 2**20))} MiB"


def as_count(number: float) -> str:
    """A number of parameters with the digits it is good for."""
    return f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number / 1e3:.0f} k"


def _is_taken(name: str) -> bool:
    return any((folder / name).exists() for folder in (runs_folder(), folders.SHIPPED))


def _with_parents(folder: Path) -> Sequence[Path]:
    folder = folder.resolve()
    return (folder, *folder.parents)
