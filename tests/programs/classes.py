"""Classes as numeric code writes them: operators, alternative constructors, cached values, dual numbers."""

import enum
import math
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from tests.programs.declare import positive, program


class Dual:
    """A number with its derivative, whose operators take numbers as well."""

    def __init__(self, v, d=0.0):
        self.v, self.d = v, d

    def __add__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v + o.v, self.d + o.d)

    __radd__ = __add__

    def __mul__(self, o):
        if not isinstance(o, Dual):
            return Dual(self.v * o, self.d * o)
        return Dual(self.v * o.v, self.v * o.d + self.d * o.v)

    __rmul__ = __mul__

    def __neg__(self):
        return Dual(-self.v, -self.d)

    def __sub__(self, o):
        return self + (-o)

    def __truediv__(self, o):
        return self * o**-1

    def __pow__(self, n):
        return Dual(self.v**n, n * self.v ** (n - 1) * self.d)

    def __lt__(self, o):
        return self.v < o.v


@program((0.7, 1.3), wrt=(0, 1), second=True)
def dual_numbers(x, y):
    a, b = Dual(x, 1.0), Dual(y)
    c = 2 * a * b - b / a + 1.0
    c += a**3
    return c.v * c.d + (a if a < b else b).v


class Vector:
    """A vector whose in-place operators change it."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return Vector(self.x + o.x, self.y + o.y)

    def __iadd__(self, o):
        self.x += o.x
        self.y += o.y
        return self

    def __rmul__(self, s):
        return Vector(s * self.x, s * self.y)

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def __abs__(self):
        return math.sqrt(self @ self)

    def __neg__(self):
        return -1.0 * self


@program((0.7, 1.3, 0.1), wrt=(0, 1, 2), second=True)
def vectors_changed_by_operators(x, y, h):
    p, v = Vector(x, y), Vector(-y, x)
    for _ in range(3):
        p = p + h * v
        v += h * -p
    return abs(p) + p @ v


@program((0.7, 0.2), wrt=(0, 1), second=True)
def vector_of_two_names_changed(x, y):
    v = Vector(x, y)
    w = v
    w += Vector(y, x * y)
    return v.x * v.y


class Tank:
    """A tank that is made of its radius, too."""

    rate = 0.3

    def __init__(self, level):
        self.level = level
        self.log = []

    def pour(self, dt):
        self.level -= self.rate * dt * math.sqrt(self.level)
        self.log.append(self.level)

    @property
    def share(self):
        return self.level / self.log[0]

    @staticmethod
    def volume(r, h):
        return math.pi * r**2 * h

    @classmethod
    def full(cls, r):
        return cls(cls.volume(r, 1.0))


@program((0.7, 0.1), wrt=(0, 1), second=True)
def made_by_a_class_method(r, dt):
    tank = Tank.full(r)
    for _ in range(3):
        tank.pour(dt)
    return tank.share + sum(tank.log)


class Square:
    def __init__(self, s):
        self.s = s

    def area(self):
        return self.s**2

    def cost(self, c):
        return self.area() * c


class Frame(Square):
    def __init__(self, s, inner):
        super().__init__(s)
        self.inner = inner

    def area(self):
        return super().area() - self.inner**2


@program((0.7, 0.2, 1.3), wrt=(0, 1, 2), second=True, quick=True)
def shapes_of_a_list(s, inner, c):
    shapes = [Square(s), Frame(s, inner), Square(c)]
    return sum(shape.cost(c) for shape in shapes)


class Normal:
    """A distribution that computes what it needs once."""

    def __init__(self, factor):
        self.factor = factor

    @cached_property
    def cov(self):
        return self.factor @ self.factor.T + np.eye(2)

    @cached_property
    def inverse(self):
        return np.linalg.inv(self.cov)

    def logpdf(self, x):
        return -0.5 * x @ self.inverse @ x - 0.5 * np.log(np.linalg.det(self.cov))


@program((positive(2, 2), positive(2)), wrt=(0, 1), second=True)
def cached_values(factor, x):
    d = Normal(factor)
    return d.logpdf(x) + d.logpdf(x * 2)


@program((Normal(positive(2, 2)), positive(2)), wrt=(0, 1), second=True)
def cached_values_of_an_argument(d, x):
    return d.logpdf(x) * d.inverse[0, 0]


@program((Normal(positive(2, 2)), np.array([[-0.3, 0.4], [0.5, 0.6]])), wrt=(0, 1), second=True)
def cached_where_it_is_needed(d, xs):
    total = 0.0
    for x in xs:
        total += d.logpdf(x) if x[0] > 0 else np.sum(x)
    return total


@program(({"w": positive(2, 2), "b": positive(2, seed=4)}, 0.1), wrt=(0, 1), quick=True)
def parameters_chosen_by_name(params, rate):
    h = np.tanh(np.array([0.3, 0.9]) @ params["w"] + params["b"])
    size = sum(np.sum(v**2) for k, v in params.items() if k.startswith("w"))
    new = {k: v - rate * v**3 for k, v in params.items()}
    return np.sum(h) + rate * size + np.sum(new["b"])


class Kernel:
    def __add__(self, other):
        return Sum(self, other)

    def __mul__(self, other):
        return Product(self, other)


class Smooth(Kernel):
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, a, b):
        return np.exp(-0.5 * (np.subtract.outer(a, b) / self.scale) ** 2)


class White(Kernel):
    def __init__(self, s):
        self.s = s

    def __call__(self, a, b):
        return self.s**2 * (a[:, None] == b[None, :])


class Sum(Kernel):
    def __init__(self, left, right):
        self.left, self.right = left, right

    def __call__(self, a, b):
        return self.left(a, b) + self.right(a, b)


class Product(Kernel):
    def __init__(self, left, right):
        self.left, self.right = left, right

    def __call__(self, a, b):
        return self.left(a, b) * self.right(a, b)


@program((positive(3), positive(3, seed=2)), wrt=(0, 1), second=True)
def objects_of_operators_called(theta, x):
    k = Smooth(theta[0]) * Smooth(theta[1]) + White(theta[2])
    return k(x, x).sum() * k.right.s


class Dense:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return x @ self.w + self.b


class Network:
    def __init__(self, p):
        self.hidden = Dense(p["w"], p["b"])
        self.last = Dense(p["v"], p["c"])

    def __call__(self, x):
        return self.last(np.tanh(self.hidden(x)))


@program(
    ({"w": positive(2, 3), "b": positive(3), "v": positive(3, 1), "c": positive(1)}, positive(4, 2)),
    wrt=(0, 1),
    second=True,
    quick=True,
)
def layers_of_attributes_called(p, x):
    net = Network(p)
    return np.mean(net(x) ** 2)


class Surface(ABC):
    def __init__(self, **options):
        super().__init__(**options)
        self.count = 1.0

    @abstractmethod
    def area(self): ...

    def weight(self):
        return 2 * self.area() * self.count


class Tile(Surface):
    def __init__(self, side):
        super().__init__()
        self.side = side

    def area(self):
        return self.side**2

    def weight(self):
        return super().weight() + self.side


@program((1.5, 0.7), wrt=(0, 1), second=True, quick=True)
def constructors_up_to_that_of_object(x, y):
    return sum(s.weight() for s in [Tile(x), Tile(y), Tile(x * y)])


class Side(enum.Enum):
    BUY, SELL = 1, 2


RATE = 0.7


def fee(amount, rate=RATE, side=Side.BUY, shape=math.sin, steps=(1.0, 2.0), by=-2):
    return shape(amount) * rate * by + steps[1] * amount if side is Side.BUY else amount * by


class Account:
    def __init__(self, value, side=Side.SELL, entries=()):
        self.value, self.side, self.entries = value, side, list(entries)

    @classmethod
    def opened(cls, value, factor=2.0):
        return cls(value * factor)

    def trade(self, amount, rate=RATE, *, side=Side.BUY):
        self.value += fee(amount, side=side) * rate + (1 if self.side is Side.SELL else 2) * self.value
        self.entries.append(self.value)
        return self


def parts_of(amount, rate=RATE, others=()):
    yield amount * rate
    yield amount * amount + sum(others)


@program((1.3,), second=True)
def defaults_that_are_no_literals(x):
    account = Account(x).trade(x).trade(x * x, side=Side.SELL)
    other = Account.opened(x)
    for _ in range(2):
        other.trade(account.value)
    return sum(account.entries) + len(other.entries) * other.value + sum(parts_of(x)) * fee(x)


class Ledger:
    def __init__(self, cash):
        self.cash, self.state, self.count = cash, "idle", 0

    def buy(self, x):
        self.cash -= x

    def sell(self, x):
        self.cash += x * x

    def execute(self, side, x):
        action = getattr(self, side)
        action(x)
        return self

    def on_idle(self, x):
        self.cash = self.cash + x
        self.state = "running"

    def on_running(self, x):
        self.cash = self.cash * x
        self.count += 1
        self.state = "idle" if self.count > 1 else "running"

    def step(self, x):
        getattr(self, f"on_{self.state}")(x)


class Bank(Ledger):
    def sell(self, x):
        self.cash = self.cash * 1.1 + x**3


@program((positive(3),), second=True)
def methods_by_texts_in_a_loop(x):
    ledger = Ledger(x[0])
    for side, v in zip(("buy", "sell", "sell"), x, strict=True):
        ledger.execute(side, v)
    return ledger.cash


@program((positive(3), "sell"), wrt=(0,), second=True)
def methods_by_a_text_that_is_given(x, side):
    return Ledger(x[0]).execute(side, x[1]).execute("buy", x[2]).cash ** 2


@program((positive(4),), second=True)
def methods_by_a_text_of_the_state(x):
    ledger = Ledger(x[0])
    for v in x:
        ledger.step(v)
    return ledger.cash * ledger.count


@program((positive(2),), second=True)
def methods_by_texts_of_several_classes(x):
    ledgers = [Ledger(x[0]), Bank(x[1])]
    for ledger in ledgers:
        for side, v in zip(["sell", "buy"], x, strict=True):
            getattr(ledger, side)(v)
    return ledgers[0].cash * ledgers[1].cash


@program((positive(2),), second=True)
def a_text_that_names_no_method(x):
    ledger = Ledger(x[0])
    try:
        ledger.execute("nothing", x[1])
    except AttributeError:
        ledger.cash = ledger.cash * x[1]
    return ledger.cash
