"""The encoder–decoder Transformer (§3, Figure 1)."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import ModelConfig
from transformer.decoding.cache import KeyValueCache
from transformer.model.attention import MultiHeadAttention
from transformer.model.dropout import Dropout
from transformer.model.hooks import Hook, Kind, Watch
from transformer.model.layers import ENCODERS, NORMS, DecoderLayer
from transformer.model.positions import POSITIONS
from transformer.text.tokenizer import PAD


def _watch(hooks: Sequence[Hook], kind: Kind, layer: int, offset: int = 0) -> Watch | None:
    return Watch(hooks, kind, layer, offset) if hooks else None


class Transformer(nn.Module):
    """Maps source pieces and the target pieces so far to logits of the next target piece.

    Embeddings start from N(0, d_model^-½) and linear layers from Xavier's uniform distribution, with biases 0.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config = config.resolved()
        self.source_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.target_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.projection = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.positions = POSITIONS[config.positions](config)
        self.dropout = Dropout(config.p_drop)
        self.encoder = nn.ModuleList(ENCODERS[config.encoder](config) for _ in range(config.n_encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers))
        self.encoder_norm = NORMS[config.norm].final(config)
        self.decoder_norm = NORMS[config.norm].final(config)
        self.apply(_initialize)
        nn.init.normal_(self.projection.weight, std=config.d_model**-0.5)
        if config.divide_query:
            _divide_query(self)
        if config.tied_embeddings:
            self.target_embedding = self.source_embedding
            self.projection.weight = self.source_embedding.weight

    @property
    def device(self) -> torch.device:
        return self.projection.weight.device

    @property
    def n_parameters(self) -> int:
        """Trained numbers, tied ones counted once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(
        self,
        source: Int[Tensor, "batch key"],
        target_in: Int[Tensor, "batch query"],
        hooks: Sequence[Hook] = (),
    ) -> Float[Tensor, "batch query vocab"]:
        """Logits of each target position's next piece; rows are padded to the right with PAD."""
        mask = source_mask(source)
        memory = self.encode(source, mask, hooks)
        return self.projection(self.decode(target_in, memory, mask, hooks=hooks))

    def encode(
        self,
        source: Int[Tensor, "batch key"],
        mask: Bool[Tensor, "batch 1 1 key"] | None = None,
        hooks: Sequence[Hook] = (),
    ) -> Float[Tensor, "batch key d_model"]:
        """The encoder's output; `mask` is `source_mask(source)`, or None where nothing is padded."""
        x = self._embed(source, self.source_embedding)
        for layer, encoder_layer in enumerate(self.encoder):
            x = encoder_layer(x, mask, self.positions, _watch(hooks, "encoder", layer))
        return self.encoder_norm(x)

    def decode(
        self,
        target_in: Int[Tensor, "batch query"],
        memory: Float[Tensor, "sentence key d_model"],
        mask: Bool[Tensor, "sentence 1 1 key"] | None = None,
        *,
        cache: KeyValueCache | None = None,
        hooks: Sequence[Hook] = (),
    ) -> Float[Tensor, "batch query d_model"]:
        """The decoder's output, to be projected to logits.

        With a cache, target_in holds only the positions that follow those already in it, and the cache grows by them.
        Several hypotheses of each sentence may be decoded at once, side by side in target_in.
        """
        offset = 0 if cache is None else cache.length
        if self.config.memory == "last":
            mask = last_of(mask, memory)
        x = self._embed(target_in, self.target_embedding, offset)
        for layer, decoder_layer in enumerate(self.decoder):
            caches = (None, None) if cache is None else (cache.decoder[layer], cache.cross[layer])
            watches = (_watch(hooks, "decoder", layer, offset), _watch(hooks, "cross", layer, offset))
            x = decoder_layer(x, memory, mask, self.positions, caches, watches)
        return self.decoder_norm(x)

    def _embed(self, ids: Tensor, embedding: nn.Embedding, offset: int = 0) -> Float[Tensor, "batch row d_model"]:
        scaled = F.embedding(ids, embedding.weight) * math.sqrt(self.config.d_model)
        return self.dropout(self.positions.embed(scaled, offset))


def source_mask(source: Int[Tensor, "batch key"]) -> Bool[Tensor, "batch 1 1 key"]:
    """True where a key is a piece and not padding."""
    return (source != PAD)[:, None, None, :]


def last_of(
    mask: Bool[Tensor, "sentence 1 1 key"] | None, memory: Float[Tensor, "sentence key d_model"]
) -> Bool[Tensor, "sentence 1 1 key"]:
    """True for the last piece of each source alone, which is </s>."""
    n_key = memory.shape[1]
    if mask is None:
        mask = torch.ones(len(memory), 1, 1, n_key, dtype=torch.bool, device=memory.device)
    return mask & ~F.pad(mask[..., 1:], (0, 1))


def _divide_query(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            with torch.no_grad():
                module.query.weight.div_(math.sqrt(module.query.out_features // module.n_heads))


def _initialize(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
