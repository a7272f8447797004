"""The persistent table: all versions stay valid."""

from __future__ import annotations

import random

from s2sad.runtime.heap_table import MISSING, Table


class Thing:
    pass


def content(table: Table, things: list[Thing]) -> list[dict[int, float]]:
    return [dict(table.at(x)) for x in things]


def test_versions_are_functional_dicts() -> None:
    rng = random.Random(3)
    things = [Thing() for _ in range(3)]
    versions = [(Table({}), [{}, {}, {}])]
    for _ in range(400):
        table, model = rng.choice(versions[-4:] if rng.random() < 0.9 else versions)
        model = [dict(m) for m in model]
        k, key, value = rng.randrange(3), rng.randrange(4), rng.random()
        match rng.randrange(5):
            case 0 | 1:
                table, model[k][key] = table.with_part(things[k], key, value), value
            case 2:
                table = table.without_part(things[k], key)
                model[k].pop(key, None)
            case 3:
                table, model[k] = table.with_parts(things[k], {key: value}), {key: value}
            case _:
                other, added = rng.choice(versions)
                table = table.plus_adjoint(other, lambda a, b: (a or 0) + (b or 0))
                for m, n in zip(model, added, strict=True):
                    m.update({j: m.get(j, 0) + v for j, v in n.items()})
        versions.append((table, model))
    for table, model in rng.sample(versions, 50):
        found = content(table, things)
        assert [{k: round(v, 9) for k, v in m.items()} for m in found] == [
            {k: round(v, 9) for k, v in m.items()} for m in model
        ]
    assert Table({}).with_part(things[0], 1, MISSING).at(things[0]) == {}
