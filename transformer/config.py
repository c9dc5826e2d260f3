"""What a model is and how it is trained: two frozen dataclasses that refuse wrong values when they are made."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args, get_origin

Positions = Literal["sinusoidal", "learned", "rope", "alibi", "none"]
Norm = Literal["post", "pre"]
Normalization = Literal["layer", "rms"]
Activation = Literal["relu", "gelu", "swiglu"]
Score = Literal["scaled", "unscaled", "scaled-twice", "additive", "qk-norm", "cosine"]
Mixing = Literal["softmax", "uniform", "window", "convolution"]
Encoder = Literal["attention", "gru"]
Memory = Literal["all", "last"]
Schedule = Literal["warmup", "no-warmup"]
Precision = Literal["auto", "float32", "bfloat16"]


class ConfigError(ValueError):
    """A configuration value that is not allowed; the message names field, value and what is allowed."""


def _check(config: Any, field: str, allowed: bool, expected: str) -> None:
    if not allowed:
        raise ConfigError(f"{type(config).__name__}.{field} is {getattr(config, field)!r}; allowed is {expected}.")


def _check_types(config: Any) -> None:
    """Refuse a value of another type than its field's: values also come from JSON files and from forms."""
    for field in fields(config):
        value = getattr(config, field.name)
        if get_origin(field.type) is Literal:
            choices = get_args(field.type)
            _check(config, field.name, value in choices, " | ".join(map(repr, choices)))
        elif field.type is bool:
            _check(config, field.name, isinstance(value, bool), "true or false")
        elif field.type is float:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            _check(config, field.name, number, "a number")
        else:
            whole = isinstance(value, int) and not isinstance(value, bool)
            optional = field.type == int | None
            _check(config, field.name, whole or (optional and value is None), "a whole number")


def _check_at_least(config: Any, minimum: float, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        _check(config, name, value is None or minimum <= value < float("inf"), f"a number of at least {minimum}")


def _check_probability(config: Any, *names: str) -> None:
    for name in names:
        _check(config, name, 0 <= getattr(config, name) < 1, "a number of at least 0 and below 1")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of an encoder–decoder Transformer; the defaults are the paper's base model (§3, Table 3).

    Raises ConfigError when a value is not allowed.
    """

    vocab_size: int = 37_000
    """Pieces in the shared vocabulary; training sets it to what the tokenizer has."""
    d_model: int = 512
    """Width of embeddings and of every sub-layer's output (§3.1)."""
    d_ff: int = 2048
    """Inner width of the position-wise feed-forward network (§3.3)."""
    n_heads: int = 8
    """Attention heads in every attention layer, h in the paper (§3.2.2)."""
    d_k: int | None = None
    """Width of one head's queries and keys; None means d_model / n_heads."""
    d_v: int | None = None
    """Width of one head's values; None means d_model / n_heads."""
    n_encoder_layers: int = 6
    """Layers of the encoder, N in the paper (§3.1)."""
    n_decoder_layers: int = 6
    """Layers of the decoder, N in the paper (§3.1)."""
    p_drop: float = 0.1
    """Dropout on every sub-layer's output and on embedding + position (§5.4)."""
    p_drop_attention: float = 0.0
    """Dropout on attention weights; the paper describes none, and above 0 the CPU's fast kernel is lost."""
    positions: Positions = "sinusoidal"
    """How a model knows the order of its tokens (§3.5)."""
    norm: Norm = "post"
    """Normalization after the residual sum, as in the paper, or before the sub-layer."""
    normalization: Normalization = "layer"
    """LayerNorm, as in the paper, or RMSNorm, which takes no mean off and adds no bias."""
    activation: Activation = "relu"
    """Non-linearity of the feed-forward network (§3.3); swiglu is gated, its two inner layers 2/3 · d_ff wide."""
    n_experts: int = 1
    """Feed-forward networks in a layer, of which a router chooses for each token; 1 is the paper's, without router."""
    top_experts: int = 2
    """Experts that each token is sent to, where there are several; each is d_ff / top_experts wide."""
    score: Score = "scaled"
    """How a query is compared with a key: scaled is q·k / √d_k (Equation 1), unscaled q·k, scaled-twice q·k / d_k,
    additive v · tanh(q + k), qk-norm g · cos(q, k) with a learned g, cosine the same with g = 1."""
    divide_query: bool = False
    """Divide W_Q by √d_k where it is initialized: unscaled scores then begin as scaled ones."""
    mixing: Mixing = "softmax"
    """What self-attention weighs values by: softmax is the paper's, of all scores; uniform gives all the same weight;
    window is a softmax over mixing_width tokens; convolution has one kernel a head, whatever the tokens are.
    Cross-attention keeps the softmax."""
    mixing_width: int = 7
    """Tokens in a window or a kernel, the query's own included: in the encoder as many before it as after it, in the
    decoder the last ones."""
    causal: bool = True
    """No target position sees those after it (§3.2.3); without, training shows the decoder what it is to write."""
    encoder: Encoder = "attention"
    """Layers of self-attention and feed-forward, or of gated recurrent units, each read from left to right."""
    memory: Memory = "all"
    """What cross-attention sees of the encoder's output: every position, or </s> alone."""
    tied_embeddings: bool = True
    """Source embedding, target embedding and output projection share one matrix (§3.4)."""
    max_length: int = 512
    """Rows in a table of learned positions; such a model reads and writes no further."""

    def __post_init__(self) -> None:
        _check_types(self)
        _check_at_least(self, 1, "d_model", "d_ff", "n_heads", "d_k", "d_v", "max_length")
        _check_at_least(self, 1, "n_encoder_layers", "n_decoder_layers", "n_experts", "top_experts", "mixing_width")
        _check_at_least(self, 4, "vocab_size")
        _check_probability(self, "p_drop", "p_drop_attention")
        even = self.positions != "sinusoidal" or self.d_model % 2 == 0
        _check(self, "d_model", even, "an even number with sinusoidal positions, which are pairs of sine and cosine")
        divisible = self.d_model % self.n_heads == 0 or (self.d_k is not None and self.d_v is not None)
        _check(self, "n_heads", divisible, f"a divisor of d_model = {self.d_model}, unless d_k and d_v are given")
        d_k = self.d_model // self.n_heads if self.d_k is None else self.d_k
        even = self.positions != "rope" or d_k % 2 == 0
        _check(self, "d_k", even, f"an even number with rope, which turns dimensions in pairs; here there are {d_k}")
        self._check_switches()

    def _check_switches(self) -> None:
        """Refuse switches that exclude each other."""
        odd = self.mixing_width % 2 == 1
        _check(self, "mixing_width", odd, "an odd number: the query's own token and as many on both sides")
        compared = self.mixing in ("softmax", "window") or self.positions not in ("rope", "alibi")
        added = "sinusoidal | learned | none"
        _check(self, "positions", compared, f"{added} with mixing {self.mixing!r}, which compares no query with a key")
        multiplied = self.score != "additive" or self.positions != "rope"
        _check(
            self, "positions", multiplied, "any but rope with additive scores: it turns queries and keys of products"
        )
        linear = not self.divide_query or self.score in ("scaled", "unscaled", "scaled-twice")
        _check(self, "divide_query", linear, f"false with score {self.score!r}, which is not proportional to the query")
        if self.n_experts > 1:
            fits = self.top_experts <= self.n_experts
            _check(self, "top_experts", fits, f"at most n_experts, which is {self.n_experts}")
            whole = self.d_ff % self.top_experts == 0
            _check(self, "d_ff", whole, f"a multiple of top_experts = {self.top_experts}, among which it is divided")
        plain = self.encoder == "attention" or self.mixing == "softmax"
        _check(self, "mixing", plain, "'softmax' with encoder 'gru', which has no self-attention to mix")

    def resolved(self) -> Self:
        """The same configuration with d_k and d_v filled in."""
        per_head = self.d_model // self.n_heads
        d_k = per_head if self.d_k is None else self.d_k
        d_v = per_head if self.d_v is None else self.d_v
        return replace(self, d_k=d_k, d_v=d_v)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How a model is trained; the defaults are the paper's (§5). Raises ConfigError when a value is not allowed."""

    steps: int = 100_000
    """Optimizer steps."""
    batch_tokens: int = 25_000
    """The most target tokens, and the most source tokens, of one batch, padding included (§5.1)."""
    accumulate: int = 1
    """Batches whose gradients are summed, weighted by tokens, before one optimizer step."""
    vocab_size: int = 37_000
    """Pieces wished for when the tokenizer is trained; small texts allow fewer."""
    warmup: int = 4000
    """Steps over which the learning rate rises (§5.3)."""
    lr_factor: float = 1.0
    """Multiplies the paper's learning rate d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)."""
    schedule: Schedule = "warmup"
    """Whether the learning rate rises over the warmup, as in the paper, or stands at its peak as long."""
    cooldown: int = 0
    """Last steps, over which the learning rate falls in a straight line to 0; 0 for none, as in the paper."""
    beta1: float = 0.9
    """Adam's decay of the mean gradient (§5.3)."""
    beta2: float = 0.98
    """Adam's decay of the mean squared gradient (§5.3)."""
    epsilon: float = 1e-9
    """Adam's term against division by zero (§5.3)."""
    clip_norm: float = 0.0
    """Longest gradient, in the 2-norm over all parameters; 0 means no clipping, as in the paper."""
    label_smoothing: float = 0.1
    """Probability mass spread evenly over the vocabulary, ε_ls in the paper (§5.4)."""
    balance: float = 0.01
    """Weight of the loss that keeps experts equally busy; without experts it means nothing."""
    seed: int = 1
    """Of initial weights, dropout and the order of the data."""
    log_every: int = 50
    """Steps from one line of metrics.jsonl to the next."""
    validate_every: int = 500
    """Steps from one validation to the next."""
    save_every: int = 500
    """Steps from one saved checkpoint to the next."""
    keep: int = 5
    """How many of the last saved checkpoints stay, to be averaged (§6.1)."""
    precision: Precision = "auto"
    """auto is bfloat16 autocast on CUDA and float32 elsewhere."""

    def __post_init__(self) -> None:
        _check_types(self)
        _check_at_least(self, 1, "steps", "batch_tokens", "accumulate", "warmup", "log_every", "validate_every")
        _check_at_least(self, 1, "save_every", "keep")
        _check_at_least(self, 300, "vocab_size")
        _check_at_least(self, 0, "clip_norm", "cooldown", "seed", "balance")
        _check(self, "cooldown", self.cooldown <= self.steps, f"at most steps, which is {self.steps}")
        _check(self, "seed", self.seed < 2**63, "a number below 2^63")
        _check_probability(self, "beta1", "beta2", "label_smoothing")
        for name in ("epsilon", "lr_factor"):
            _check(self, name, 0 < getattr(self, name) < float("inf"), "a number above 0")
