"""Sets that tell what was seen, beside objects and lists that change."""

import heapq

from tests.programs.declare import program


class Node:
    def __init__(self, value):
        self.value = value
        self.after = []
        self.total = 0.0


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def shortest_way_with_a_set(x, y):
    ways = {"a": {"b": x, "c": y * 3}, "b": {"c": x * y, "d": 2.0}, "c": {"d": x}, "d": {}}
    distances, reached, heap = {"a": 0.0}, set(), [(0.0, "a")]
    while heap:
        distance, place = heapq.heappop(heap)
        if place in reached:
            continue
        reached.add(place)
        for other, length in ways[place].items():
            new = distance + length * length
            if other not in distances or new < distances[other]:
                distances[other] = new
                heapq.heappush(heap, (new, other))
    return distances["d"] + distances["c"] * len(reached)


@program((0.7, 1.3), wrt=(0, 1))
def nodes_seen(x, y):
    nodes = [Node(x), Node(y), Node(x * y)]
    nodes[0].after = [nodes[1], nodes[2]]
    nodes[1].after = [nodes[2]]
    seen, todo, total = set(), [nodes[0]], 0.0
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        node.total = node.value * len(seen)
        total += node.total * node.value
        todo.extend(node.after)
    return total * nodes[2].total
