"""What `roundtable` does with a model that is there: translate, evaluate, trace, average."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from transformer.commands.console import chunks, input_lines, say
from transformer.folders import find_checkpoint

_FILE_BATCH = 64


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
        for lines in chunks(input_lines(), 1 if sys.stdin.isatty() else _FILE_BATCH):
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
        from transformer.training.start import corpus_of_run

        checkpoint = load_checkpoint(self.checkpoint)
        corpus = load_corpus(self.corpus, notify=say) if self.corpus else corpus_of_run(checkpoint.folder, notify=say)
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
        from transformer.analysis.table import pattern_table
        from transformer.checkpoint import load_checkpoint
        from transformer.export.files import check_suffix, write_trace

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
