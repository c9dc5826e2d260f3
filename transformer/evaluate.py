"""How good a checkpoint is: perplexity, BLEU and chrF, each score beside the signature that says what was counted."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint import EVALUATION_FILE, Checkpoint, read_evaluation
from transformer.folders import replacing
from transformer.model import Transformer
from transformer.text.batches import Batches
from transformer.text.tokenizer import Tokenizer
from transformer.training.loss import batch_loss

_BATCH_TOKENS = 4096


def evaluate(
    checkpoint: Checkpoint, pairs: Sequence[tuple[str, str]], beam: int = 4, alpha: float = 0.6
) -> dict[str, Any]:
    """Scores of a checkpoint on (source, reference) pairs, as they stand in evaluation.json."""
    started = time.perf_counter()
    sources, references = [source for source, _ in pairs], [reference for _, reference in pairs]
    translations = checkpoint.translate(sources, beam, alpha)
    seconds = time.perf_counter() - started
    exact = sum(ours == theirs for ours, theirs in zip(translations, references, strict=True))
    return {
        "n_sentences": len(pairs),
        "beam": beam,
        "alpha": alpha,
        "perplexity": perplexity(checkpoint.model, checkpoint.tokenizer, pairs),
        **translation_scores(translations, references),
        "exact_match": exact / len(pairs),
        "sentences_per_second": round(len(pairs) / seconds, 1),
        "weights": checkpoint.config.weights,
        "step": checkpoint.config.step,
    }


def perplexity(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> float:
    """exp of the mean negative log-likelihood of a target piece, EOS included, without smoothing.

    Per piece of this tokenizer: perplexities of different tokenizers do not compare.
    """
    encoded = [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]
    batches = Batches(encoded, _BATCH_TOKENS, seed=0)
    nll, n_tokens = 0.0, 0
    with torch.inference_mode():
        for indices in batches.epoch(0):
            loss = batch_loss(model, batches.batch(indices).to(model.device))
            nll += float(loss.nll)
            n_tokens += loss.n_tokens
    return float(torch.tensor(nll / n_tokens, dtype=torch.float64).exp())


def translation_scores(translations: Sequence[str], references: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Corpus scores with their sacreBLEU signatures.

    bleu and chrf: cased, detokenized. bleu_lower_moses: punctuation normalized, lower-cased, tokenized as Moses does,
    which is what papers on Multi30k report; it does not compare with the former.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    bleu, chrf, tokenized = BLEU(), CHRF(), BLEU(tokenize="none", force=True)
    prepared = [_lower_moses(texts) for texts in (translations, references)]
    results = {
        "bleu": (bleu.corpus_score(list(translations), [list(references)]), bleu),
        "chrf": (chrf.corpus_score(list(translations), [list(references)]), chrf),
        "bleu_lower_moses": (tokenized.corpus_score(prepared[0], [prepared[1]]), tokenized),
    }
    return {
        name: {"score": round(result.score, 2), "signature": str(metric.get_signature())}
        for name, (result, metric) in results.items()
    }


def save_evaluation(folder: Path, name: str, result: dict[str, Any]) -> None:
    """Keep a result under its name in the checkpoint's evaluation.json, beside those of other names.

    Raises CheckpointError when the file that is there cannot be read: it is not written over.
    """
    kept = read_evaluation(folder)
    with replacing(folder / EVALUATION_FILE) as temporary:
        temporary.write_text(json.dumps({**kept, name: result}, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _lower_moses(texts: Sequence[str]) -> list[str]:
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer, tokenizer = MosesPunctNormalizer(lang="de"), MosesTokenizer(lang="de")
    lowered = (normalizer.normalize(text).lower() for text in texts)
    return [str(tokenizer.tokenize(text, return_str=True, escape=False)) for text in lowered]
