"""Decoding with a cache gives, at every step, what a whole pass gives."""

import pytest
import torch
from torch.testing import assert_close

from tests.decoding.test_search import random_model
from transformer.decoding.cache import KeyValueCache, LayerCache
from transformer.model.positions import POSITIONS
from transformer.model.transformer import source_mask
from transformer.text.batches import pad
from transformer.text.tokenizer import BOS, EOS

SOURCE = pad([[7, 9, 4, EOS], [12, EOS], [5, 6, 7, EOS]])
TARGET = torch.tensor([[BOS, 20, 21, 22, 23], [BOS, 30, 31, 32, 33], [BOS, 40, 41, 42, 43]])


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("chunks", [(1, 1, 1, 1, 1), (2, 1, 2), (3, 2), (5,)])
def test_steps_equal_the_whole(positions, norm, chunks):
    model, mask = random_model(positions=positions, norm=norm), source_mask(SOURCE)
    cache = KeyValueCache(len(model.decoder))
    with torch.inference_mode():
        memory = model.encode(SOURCE, mask)
        steps = [model.decode(part, memory, mask, cache=cache) for part in TARGET.split(chunks, dim=1)]
        assert_close(torch.cat(steps, 1), model.decode(TARGET, memory, mask), atol=1e-5, rtol=0)
    assert cache.length == 5


@pytest.mark.parametrize("positions", POSITIONS)
def test_reordered_rows_go_on_as_if_they_had_always_stood_there(positions):
    model, mask = random_model(positions=positions), source_mask(SOURCE)
    cache, order = KeyValueCache(len(model.decoder)), torch.tensor([2, 0, 0])
    with torch.inference_mode():
        memory = model.encode(SOURCE, mask)
        model.decode(TARGET[:, :3], memory, mask, cache=cache)
        cache.select(order)
        cache.select_sentences(order)
        step = model.decode(TARGET[order, 3:4], memory[order], mask[order], cache=cache)
        whole = model.decode(TARGET[order, :4], memory[order], mask[order])
    assert_close(step, whole[:, 3:], atol=1e-5, rtol=0)


def test_hypotheses_of_a_sentence_share_its_memory():
    model, mask = random_model(), source_mask(SOURCE)
    cache, rows = KeyValueCache(len(model.decoder)), torch.tensor([0, 0, 1, 1, 2, 2])
    continued = torch.tensor([[5], [6], [7], [8], [9], [10]])
    with torch.inference_mode():
        memory = model.encode(SOURCE, mask)
        model.decode(TARGET[:, :2], memory, mask, cache=cache)
        cache.select(rows)
        shared = model.decode(continued, memory, mask, cache=cache)
        whole = model.decode(torch.cat((TARGET[rows, :2], continued), 1), memory[rows], mask[rows])
    assert_close(shared, whole[:, 2:], atol=1e-5, rtol=0)
    assert len(cache.cross[0].keys) == 3


def test_room_grows_without_losing_what_is_kept():
    cache = LayerCache(grows=True)
    whole = torch.arange(40.0).view(1, 1, 40, 1)
    for position in range(40):
        keys, values = cache.append(whole[:, :, [position]], -whole[:, :, [position]])
        assert torch.equal(keys, whole[:, :, : position + 1])
        assert torch.equal(values, -whole[:, :, : position + 1])


def test_an_order_that_changes_nothing_copies_nothing():
    cache = KeyValueCache(1)
    cache.decoder[0].append(torch.zeros(3, 1, 2, 1), torch.zeros(3, 1, 2, 1))
    before = cache.decoder[0].keys.data_ptr()
    cache.select(torch.tensor([0, 1, 2]))
    assert cache.decoder[0].keys.data_ptr() == before
    cache.select(torch.tensor([0, 1]))
    assert len(cache.decoder[0].keys) == 2
