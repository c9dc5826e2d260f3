"""Label-smoothed cross-entropy (§5.4), computed together with the projection to the vocabulary."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from transformer.model.feed_forward import Experts
from transformer.model.transformer import Transformer, source_mask
from transformer.text.batches import Batch
from transformer.text.tokenizer import PAD

_CHUNK_ELEMENTS = {"cpu": 2**20, "cuda": 2**26, "mps": 2**24}
"""Logits held at once, for up to _LARGE_VOCAB pieces: on the CPU few enough to stay in its cache."""
_LARGE_VOCAB = 2**13
"""From here on a chunk has no fewer rows for more pieces: products of few rows wait for memory, not for arithmetic."""


@dataclass(frozen=True)
class Loss:
    """Sums over a batch's target tokens, padding left out; divide by n_tokens for the mean, in nats."""

    smoothed: Float[Tensor, ""]
    """The training objective: cross-entropy with the smoothed target 1 - ε + ε/V on the gold piece, ε/V elsewhere."""
    nll: Float[Tensor, ""]
    """Negative log-likelihood of the gold pieces, without smoothing; exp(nll / n_tokens) is the perplexity."""
    n_tokens: int


class _ProjectedCrossEntropy(torch.autograd.Function):
    """Projection and loss in one pass over chunks of rows, gradients included.

    The gradient of the logits is softmax - smoothed target, known as soon as the logits are: computing it at once means
    that no (row, vocab) matrix outlives its chunk.
    """

    @staticmethod
    def forward(ctx, hidden, weight, gold, epsilon, needs_grad):
        n_rows, n_vocab = hidden.shape[0], weight.shape[0]
        grad_hidden = torch.empty_like(hidden) if needs_grad else None
        grad_weight = torch.zeros_like(weight) if needs_grad else None
        nll = hidden.new_zeros((), dtype=torch.float32)
        uniform = hidden.new_zeros((), dtype=torch.float32)
        device = hidden.device.type
        chunk = max(1, _CHUNK_ELEMENTS.get(device, 2**20) // min(n_vocab, _LARGE_VOCAB))
        if torch.is_autocast_enabled(device):
            hidden, weight = (tensor.to(torch.get_autocast_dtype(device)) for tensor in (hidden, weight))
        # One buffer for all chunks: fresh memory for each costs the CPU more than the softmax does.
        buffer = weight.new_empty(min(chunk, n_rows), n_vocab)
        for start in range(0, n_rows, chunk):
            rows = slice(start, min(start + chunk, n_rows))
            logits = torch.mm(hidden[rows], weight.T, out=buffer[: rows.stop - start]).float()
            index = gold[rows, None]
            of_gold, mean = logits.gather(1, index), logits.mean(-1, keepdim=True)
            highest = logits.amax(-1, keepdim=True)
            exponentials = logits.sub_(highest).exp_()
            total = exponentials.sum(-1, keepdim=True)
            log_z = highest + total.log()
            nll += (log_z - of_gold).sum()
            uniform += (log_z - mean).sum()
            if grad_hidden is not None and grad_weight is not None:
                grad = exponentials.div_(total).sub_(epsilon / n_vocab)
                grad.scatter_add_(1, index, torch.full_like(index, epsilon - 1, dtype=grad.dtype))
                grad = grad.to(weight.dtype)
                grad_hidden[rows] = grad @ weight
                if grad.dtype == grad_weight.dtype:
                    grad_weight.addmm_(grad.T, hidden[rows])
                else:
                    grad_weight += grad.T @ hidden[rows]
        if needs_grad:
            ctx.save_for_backward(grad_hidden, grad_weight)
        ctx.mark_non_differentiable(nll)
        return (1 - epsilon) * nll + epsilon * uniform, nll

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_smoothed, _):
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden * grad_smoothed, grad_weight * grad_smoothed, None, None, None


def projected_cross_entropy(
    hidden: Float[Tensor, "row d_model"],
    weight: Float[Tensor, "vocab d_model"],
    gold: Int[Tensor, " row"],
    label_smoothing: float = 0.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Sums over rows of the smoothed loss and of the plain negative log-likelihood of logits hidden · weightᵀ."""
    needs_grad = torch.is_grad_enabled() and (hidden.requires_grad or weight.requires_grad)
    smoothed, nll = _ProjectedCrossEntropy.apply(hidden, weight, gold, label_smoothing, needs_grad)
    return smoothed, nll


def batch_loss(model: Transformer, batch: Batch, label_smoothing: float = 0.0) -> Loss:
    """The loss of one batch; only target positions that are not padding meet the projection."""
    mask = source_mask(batch.source)
    hidden = model.decode(batch.target_in, model.encode(batch.source, mask), mask)
    real = batch.target_out != PAD
    gold = batch.target_out[real]
    smoothed, nll = projected_cross_entropy(hidden[real], model.projection.weight, gold, label_smoothing)
    return Loss(smoothed, nll, gold.numel())


def balance_loss(model: Transformer) -> Float[Tensor, ""]:
    """The load-balance losses that the last training pass left behind, summed over layers, and taken away.

    Padding is routed as tokens are, and counts.
    """
    total = torch.zeros((), device=model.device)
    for module in model.modules():
        if isinstance(module, Experts) and module.balance is not None:
            total, module.balance = total + module.balance, None
    return total


class SharedLoss(nn.Module):
    """The loss as a module's forward pass, which is where DistributedDataParallel looks."""

    def __init__(self, model: Transformer, balance: float) -> None:
        """balance: weight of the load-balance loss of a model with experts."""
        super().__init__()
        self.model, self.balance = model, balance

    def forward(self, batch: Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        loss = batch_loss(self.model, batch, label_smoothing)
        if self.model.config.n_experts == 1:
            return loss.smoothed, loss.nll
        return loss.smoothed + self.balance * loss.n_tokens * balance_loss(self.model), loss.nll
