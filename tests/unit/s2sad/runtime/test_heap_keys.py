"""The orders into which `heapq` puts lists."""

import heapq
import random

import pytest

from s2sad.runtime.heap_keys import order_of_heap, order_of_pop, order_of_push, reorder


@pytest.mark.parametrize("seed", range(20))
def test_orders_of_heaps(seed):
    choice = random.Random(seed)
    items = [choice.randrange(9) for _ in range(choice.randrange(1, 20))]
    expected = list(items)
    heapq.heapify(expected)
    reorder(items, order_of_heap(items))
    assert items == expected
    for _ in range(40):
        if len(items) < 2 or choice.random() < 0.5:
            new = choice.random()
            items.append(new)
            heapq.heappush(expected, new)
            reorder(items, order_of_push(items))
        else:
            reorder(items, order_of_pop(items))
            assert items.pop() == heapq.heappop(expected)
        assert items == expected
