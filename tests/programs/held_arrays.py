"""Arrays that objects hold and that are changed in place."""

import numpy as np

from tests.programs.declare import positive, program


class Weights:
    def __init__(self, value):
        self.value = value


class Regression:
    def __init__(self, w, b):
        self.w, self.b = Weights(w.copy()), Weights(b.copy())
        self.params = [self.w, self.b]

    def loss(self, inputs, targets):
        r = inputs @ self.w.value + self.b.value - targets
        self.w.grad = 2 * inputs.T @ r
        self.b.grad = 2 * np.sum(r, keepdims=True)
        return np.sum(r**2)

    def step(self, rate):
        for p in self.params:
            p.value -= rate * p.grad


@program((positive(2), positive(1, seed=1), 0.05), wrt=(0, 1, 2), second=True)
def regression_trained(w, b, rate):
    model = Regression(w, b)
    inputs, targets = np.array([[1.0, 0.2], [0.3, 0.5], [0.1, 1.5]]), np.array([1.0, 2.0, 0.5])
    for _ in range(2):
        model.loss(inputs, targets)
        model.step(rate)
    return model.loss(inputs, targets)


class Body:
    def __init__(self, m, x, v):
        self.m, self.x, self.v = m, x, v


def attraction(b, others):
    a = np.zeros(2)
    for o in others:
        if o is not b:
            d = o.x - b.x
            a += o.m * d / (np.sum(d * d) + 0.1) ** 1.5
    return a


@program((positive(3, 2), positive(3, 2, seed=1), 0.05), wrt=(0, 1, 2), second=True, quick=True)
def bodies_of_a_list(x, v, dt):
    bodies = [Body(1.0 + i, x[i] * 1.0, v[i].copy()) for i in range(3)]
    for _ in range(2):
        for b in bodies:
            b.v += dt * attraction(b, bodies)
        for b in bodies:
            b.x = b.x + dt * b.v
    return sum(0.5 * b.m * np.sum(b.v**2) for b in bodies)


@program((positive(3, 2), positive(3, 2, seed=1), 0.05), wrt=(0, 1, 2), second=True)
def pairs_of_bodies(x0, v0, dt):
    bodies = [Body(1.0 + i, x, v.copy()) for i, (x, v) in enumerate(zip(x0, v0, strict=True))]
    for i, a in enumerate(bodies):
        for b in bodies[i + 1 :]:
            d = b.x - a.x
            f = d / (np.sum(d * d) + 0.1) ** 1.5
            a.v += dt * b.m * f
            b.v -= dt * a.m * f
    for b in bodies:
        b.x = b.x + dt * b.v
    return np.sum(np.array([b.x for b in bodies]) ** 2)


@program((positive(2), 0.3), wrt=(0, 1), second=True)
def array_of_two_objects(x, y):
    a = Weights(x * 2)
    b = Weights(a.value)
    a.value -= y * x
    b.value *= y
    return np.sum(a.value * b.value + a.value)


@program((positive(2), 0.3), wrt=(0, 1), second=True)
def array_read_before_and_after(x, y):
    a = Weights(x * 2)
    cells = [a, a]
    s = np.sum(np.sin(a.value))
    for c in cells:
        c.value *= y
        s = s + np.sum(np.sin(c.value) ** 2)
    return s + np.sum(a.value)


@program((positive(2), 0.3), wrt=(0, 1), second=True, quick=True)
def elements_of_a_held_array(x, y):
    a = Weights(x * 2)
    cells = [a]
    cells[0].value[0] = y
    a.value[1] += y * a.value[0]
    a.value[:] *= 2
    return np.sum(a.value**2)


@program((positive(2), 0.3), wrt=(0, 1), second=True)
def arrays_of_layers_and_a_list(x, y):
    layers = [Weights(x * k) for k in range(1, 4)]
    params = [layer.value for layer in layers]
    grads = [np.cos(p) for p in params]
    for p, g in zip(params, grads, strict=True):
        p -= y * g
    for p, g in zip(params, grads, strict=True):
        p[...] = p - y * g
    return sum(np.sum(layer.value**2) for layer in layers)


@program((positive(2), 0.3), wrt=(0, 1), second=True)
def arrays_of_two_dicts(x, y):
    w = {"a": x * 1.0, "b": x * y}
    v = {k: np.zeros_like(p) for k, p in w.items()}
    m = [w, v]
    for _ in range(3):
        for k in w:
            v[k] *= 0.9
            v[k] += np.cos(w[k])
            w[k] -= y * v[k]
    return np.sum(m[0]["a"] * w["b"])


@program((positive(2), 0.3), wrt=(0, 1), second=True)
def local_arrays_among_objects(x, y):
    cells = [Weights(x), Weights(x * y)]
    acc = np.zeros(2)
    mat = np.zeros((2, 2))
    for i, c in enumerate(cells):
        acc += c.value
        mat[i] += acc
        mat[i, 0] = y * mat[i, 1]
        row = mat[i]
        row *= 2.0
        c.value = np.sum(row)
    return np.sum(mat**2) * cells[0].value


@program((positive(2), 0.3), wrt=(0, 1), second=True, quick=True)
def held_array_in_a_loop_of_none(x, y):
    cells = [Weights(x * y)]
    for c in cells[1:]:
        c.value += 1.0
    for _ in range(0):
        cells[0].value *= 2.0
    return np.sum(cells[0].value)


@program((positive(2), 0.3), wrt=(0, 1), second=True)
def held_array_and_a_name_of_one_path(x, y):
    late = None
    cells = [Weights(x * y), Weights(x * 2)]
    for k, c in enumerate(cells):
        c.value += y
        if k > 0:
            c.value = c.value * late
        late = np.sin(c.value)
    return np.sum(cells[1].value * cells[0].value)


@program((np.array(0.3), 0.3), wrt=(0, 1), second=True)
def held_array_of_no_dimensions(x, y):
    cells = [Weights(x.copy())]
    for c in cells:
        c.value += y
    return np.sum(cells[0].value ** 2)


@program((0.5, 0.3), wrt=(0, 1), second=True)
def held_numbers_updated(x, y):
    cells = [Weights(x), Weights(x * y)]
    c0 = cells[0]
    old = c0.value
    for c in cells:
        c.value *= y
        c.value -= old
    return cells[0].value * cells[1].value + old


@program((positive(2), 0.3), wrt=(0, 1), second=True, quick=True)
def held_arrays_as_lists_change(x, y):
    stack = [Weights(x * 1.0), Weights(x * 2.0)]
    other = [stack[0].value, stack[1].value]
    stack.insert(0, Weights(x * 3.0))
    p = stack.pop(1)
    p.value *= y
    other.reverse()
    stack[-1].value += p.value
    return np.sum(other[0] * other[1]) + np.sum(stack[0].value)


@program(({"w": positive(2), "b": positive(1)}, 0.05), wrt=(0, 1), second=True)
def parameters_updated_by_key(params, rate):
    params = {k: v.copy() for k, v in params.items()}
    trail = []
    for _ in range(3):
        trail.append({k: v.copy() for k, v in params.items()})
        for k in params:
            params[k] -= rate * np.cos(params[k])
    return sum(np.sum(t["w"]) * np.sum(t["b"]) for t in trail) + np.sum(params["w"])


@program((positive(2), 0.5, 0.05), wrt=(0, 1, 2), second=True)
def momentum_by_key(w, b, rate):
    params = {}
    for k, v in zip("wb", (w * 1.0, b), strict=True):
        params[k] = v
    speed = {k: 0.0 * v for k, v in params.items()}
    for _ in range(2):
        for k in params:
            speed[k] = 0.9 * speed[k] + np.sin(params[k])
            params[k] -= rate * speed[k]
    return np.sum(params["w"] ** 2) * params["b"]


@program((positive(3), 0.5), wrt=(0, 1))
def sums_by_key(x, a):
    sums = {}
    for i, v in enumerate(x):
        key = "even" if i % 2 == 0 else "odd"
        if key not in sums:
            sums[key] = np.zeros(2)
        sums[key] += v * a
    return np.sum(sums["even"]) * np.sum(sums["odd"])


@program(({"w": positive(2), "b": positive(1)}, 0.05), wrt=(0, 1), second=True, quick=True)
def array_of_a_dict_by_name(params, rate):
    params = {k: v.copy() for k, v in params.items()}
    both = [params]
    both[0]["b"] = rate * params["b"]
    w = params["w"]
    w += rate
    return np.sum(both[0]["w"]) * np.sum(params["b"]) * (w * 2)[0]


@program((np.array([[0.3, -0.2], [0.1, 0.4]]), np.array([1.0, 0.5, -0.3, 0.8])), wrt=(0, 1), second=True)
def array_returned_after_a_loop_of_views(kicks, state):
    state = state * 1.0
    for kick in kicks:
        stages = [state * kick[0]]
        for a in (0.5, 1.0):
            stages.append(state + a * stages[-1])
        state = state + stages[0] * stages[1]
        velocity = state[2:]
        velocity += kick
    return state


class Wave:
    def __init__(self, u, speed):
        self.u, self.prev, self.speed = u, np.zeros_like(u), speed

    def step(self):
        lap = np.zeros_like(self.u)
        lap[1:-1] = self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]
        new = 2 * self.u - self.prev + self.speed**2 * lap
        new[0] += self.speed
        new[new > 1.0] *= 0.9
        self.prev, self.u = self.u, new
        self.u[-1] = 0.3 * self.prev[1]


@program((positive(4), 0.3), wrt=(0, 1), second=True)
def buffers_of_waves_that_are_swapped(x, y):
    waves = [Wave(x * k, y * k) for k in (1, 2)]
    for w in waves:
        w.u[:] = w.u * y
        w.prev[:] = w.u
        for _ in range(3):
            w.step()
    chosen = waves[-1]
    chosen.prev = chosen.u
    chosen.u *= y  # seen in both attributes
    chosen.prev[1] += 1.0
    return sum(w.u @ w.prev for w in waves) + chosen.u[1]


class Species:
    count = 0

    def __init__(self, name, n, growth):
        Species.count += 1
        self.name, self.n, self.growth = name, n, growth

    def advance(self, food):
        self.n = np.array([[0.2, self.growth * food], [0.5, 0.8]]) @ self.n
        self.n *= np.exp(-food)
        self.n[self.n < 1e-6] = 0.0


@program((positive(2), 0.3), wrt=(0, 1), second=True)
def masked_stores_among_objects_by_name(x, y):
    species = {s.name: s for s in (Species("hare", x * 2.0, y), Species("lynx", x.copy(), 0.9))}
    food = {}
    for _ in range(2):
        for name in species:
            food[name] = 0.0
        for name, s in species.items():
            food[name] += y * s.n[1]
        for name, s in species.items():
            s.advance(food[name])
    return species["hare"].n @ species["lynx"].n


class Site:
    def __init__(self, weight):
        self.weight, self.state, self.total = weight, None, 0.0


def rates(x):
    found = np.outer(x, x)
    np.fill_diagonal(found, -found.sum(axis=1))
    return found / np.sum(np.diag(found))


@program((positive(3),), second=True)
def a_matrix_whose_diagonal_is_set_before_objects_change(x):
    first, last = Site(1.0), Site(2.0)
    table = rates(x)
    for site in (first, last, first):
        site.state = table @ x * site.weight
        site.total = site.total * site.weight + np.sum(site.state**2)
    return first.total * last.total


@program((positive(3),))
def an_array_that_calls_change_where_objects_hold_it(x):
    sites = [Site(1.0), Site(2.0)]
    table = np.outer(x, x)
    for site in [*sites, sites[0]]:
        site.state = table
        np.fill_diagonal(table, site.weight * x)
        site.total += np.sum(site.state**2) + np.sum(sites[0].state)
    return sites[0].total * sites[1].total + np.sum(table)


@program((positive(3),), second=True)
def calls_that_change_an_array_of_the_function(x):
    found = x * 2.0
    sites = [Site(1.0), Site(2.0)]
    for site in [*sites, sites[0]]:
        np.put(found, [1, 0], x[2] * site.weight)
        np.multiply(found, x, out=found)
        site.total = site.total + np.sum(found**2) * site.weight
        found.sort()
    return sites[0].total * sites[1].total + found[0]
