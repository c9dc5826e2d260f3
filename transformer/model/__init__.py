"""The Transformer of "Attention Is All You Need", with every attention head open to hooks."""

from transformer.model.hooks import Hook, HookPoint, Kind
from transformer.model.transformer import Transformer

__all__ = ["Hook", "HookPoint", "Kind", "Transformer"]
