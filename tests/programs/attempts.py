"""Exceptions: `try`, `except`, `else`, `finally`, `raise`."""

import contextlib
import math

import numpy as np

from tests.programs.declare import positive, program


def root(x):
    if x < 0.0:
        raise ValueError("no root")
    return math.sqrt(x)


def checked_power(x, text, n):
    if n == 0:
        return x
    int(text)
    return checked_power(x * x, text, n - 1)


def with_lookup(x, table, n):
    if n == 0:
        return x
    unused = table["key"]  # noqa: F841
    return with_lookup(x * x, table, n - 1)


def chosen(x, k):
    try:
        if k == 0:
            t = root(-x)
        elif k == 1:
            t = {}["a"]
        elif k == 2:
            t = [1.0][3] * x
        else:
            t = x * x
    except ValueError:
        t = x * 2.0
    except (KeyError, IndexError) as error:
        t = x * 3.0 + (x * x if isinstance(error, KeyError) else 0.0)
    else:
        t = t * x
    return t


@program((0.8, 1.3), (-0.8, 1.3), wrt=(0, 1), second=True)
def exception_handled(x, y):
    try:
        z = math.log(x)
    except ValueError:
        z = y * y
    return z * y


@program((0.8, 1.3), (-0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def return_from_a_try(x, y):
    try:
        return root(x) * y
    except ValueError:
        pass
    return x * y


@program((0.8, 1.3), (-0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def return_from_both(x, y):
    try:
        return root(x) * y
    except ValueError as error:
        return root(y) * x + len(str(error))


@program((0.8, 1.3), wrt=(0, 1), second=True)
def several_handlers(x, y):
    return chosen(x, 0) * y + chosen(x, 1) * y * y + chosen(y, 2) * chosen(x * y, 3)


@program((0.8, 1.3), (-0.8, 1.3), wrt=(0, 1), second=True)
def else_and_finally(x, y):
    log = []
    try:
        z = root(x)
    except ValueError:
        z = 1.0
    else:
        z = z * y
    finally:
        log.append("done")
    return z * x * len(log)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def finally_alone(x, y):
    count = 0
    total = 0.0
    for k in range(5):
        try:
            if k == 1:
                continue
            if k == 3:
                break
            total += x * y * k
        finally:
            count += 1
    return total * count


@program((0.8, 1.3), wrt=(0, 1), second=True)
def exceptions_in_a_loop(x, y):
    total = 0.0
    for k in range(5):
        try:
            total += math.sqrt(x - 0.3 * k)
        except ValueError:
            total += y * k
    return total * total


@program((0.8, 1.3), wrt=(0, 1), second=True)
def continue_after_an_exception(x, y):
    total = 0.0
    for k in range(5):
        try:
            t = math.sqrt(x - 0.3 * k)
        except ValueError:
            continue
        total += t * y
    return total


@program((0.8, 1.3), wrt=(0, 1), second=True)
def break_after_an_exception(x, y):
    total = 0.0
    k = 0
    while True:
        k += 1
        try:
            t = math.sqrt(x - 0.3 * k)
        except ValueError:
            break
        total += t * y
    return total * k


@program((0.9, 1.3), wrt=(0, 1), second=True)
def tried_again(x, y):
    k = 0
    while True:
        try:
            z = math.log(x - 1.0 + 0.3 * k)
        except ValueError:
            k += 1
        else:
            break
    return z * y


@program((np.array([[2.0, 0.3], [0.3, 1.0]]),), (np.array([[-2.0, 0.3], [0.3, 1.0]]),))
def shifted_factorisation(a):
    shift = 0.0
    while True:
        try:
            factor = np.linalg.cholesky(a + shift * np.eye(2))
            break
        except np.linalg.LinAlgError:
            shift += 1.3
    return np.sum(np.log(np.diag(factor))) + factor[1, 0]


@program((0.8, 1.3), wrt=(0, 1), second=True)
def loop_in_a_try(x, y):
    try:
        s = 0.0
        for k in range(3):
            s = s + math.sqrt(x - 0.1 * k) * y
    except ValueError:
        s = x
    try:
        t = 0.0
        for k in range(3):
            t = t + math.sqrt(x - 0.5 * k) * y
    except ValueError:
        t = x * y
    return s * t


@program((0.8, 1.3), wrt=(0, 1), second=True)
def exceptions_of_what_is_called(x, y):
    try:
        z = checked_power(x, "1", 2)
    except ValueError:
        z = x
    try:
        w = checked_power(x, "no number", 2)
    except ValueError:
        w = y * y
    try:
        v = with_lookup(x, {}, 2)
    except KeyError:
        v = x * y
    return z * w + v


@program((0.8, 1.3), (-0.8, 1.3), wrt=(0, 1), second=True)
def nested_attempts(x, y):
    try:
        try:
            z = math.log(x)
        except KeyError:
            z = x
    except ValueError:
        z = y * x
    return z * y


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def raised_again(x, y):
    try:
        z = math.sqrt(x)
    except ValueError as error:
        raise RuntimeError("no root") from error
    return z * y


@program((0.8, 1.3), (1.8, 1.3), wrt=(0, 1), second=True, quick=True)
def failed_assertion(x, y):
    try:
        assert x > 1.0, "too small"
        z = 2.0 * x
    except AssertionError:
        z = 3.0 * y
    return z * z


@program((0.8, 1.3), (-0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def suppressed(x, y):
    z = x
    with contextlib.suppress(ValueError, KeyError):
        z = math.log(x) * y
    return z * y


@program((0.8,), (-0.8,), second=True, quick=True)
def floating_point_error(x):
    try:
        with np.errstate(all="raise"):
            z = np.log(np.float64(x))
    except FloatingPointError:
        z = x * x
    return z * x


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def numbers_in_text(x, y):
    total = 0.0
    for token in ["1.5", "x", "2"]:
        try:
            v = float(token)
        except ValueError:
            v = y
        total += v * x
    return total


@program((0.8, 1.3), wrt=(0, 1))
def append_in_a_try(x, y):
    found = []
    for k in [0.0, 1.0, 2.0]:
        try:
            found.append(math.sqrt(x - k) * y)
        except ValueError:
            found.append(x * k)
    return found[0] * found[1] + found[2]


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def exception_in_a_closure(x, y):
    def log(v):
        try:
            return math.log(v) * y
        except ValueError:
            return v * y * y

    return sum(log(v) for v in [x, -x, y])


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def missing_module(x, y):
    try:
        import no_such_module

        z = no_such_module.f(x)
    except ImportError:
        z = x * y
    return z * z


@program((positive(3),), second=True)
def update_that_fails(x):
    a = x * 2.0
    try:
        a += np.ones(7)
    except ValueError:
        a = a * x
    return np.sum(a * a)


@program((0.0, 1.3), wrt=(1,), second=True)
def exception_of_a_tangent_is_not_handled(x, y):
    try:
        z = math.sqrt(x) + y * y
    except ZeroDivisionError:
        z = y
    return z


@program((0.8, 1.3), wrt=(0, 1), second=True)
def finally_without_effect(x, y):
    def step(v):
        try:
            z = v * y
        finally:
            unused = 2  # noqa: F841
        return z

    return step(x) * step(y)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def exception_from_a_call_in_a_loop(x, y):
    def checked(v, k):
        if k % 2:
            raise KeyError(k)
        return v * v * k

    s = x
    for k in range(5):
        try:
            s = s + checked(s, k) * 0.1
        except KeyError as error:
            s = s * y + len(str(error))
        else:
            s = s - y
    return s


@program((positive(3),), second=True, quick=True)
def attributes_that_arrays_lack(x):
    y = x * 2.0
    try:
        y.name = "y"
    except AttributeError:
        y = y * x
    return np.sum(y**2)


def sine_unless(fails, x):
    if fails:
        raise ValueError("fails")
    return np.sin(x)


Z = np.array([0.2, -0.2, 1.0])


@program((0.7, -0.9, Z, 1), (0.7, -0.9, Z, 7), wrt=(0, 1, 2), quick=True)
def return_from_a_nested_attempt(x, y, z, n):
    for total in (x, y):
        for i in reversed(range(2)):
            try:
                part = sine_unless(i % 2 == n, z @ z * 0.2)
            except ValueError:
                return x * y
            finally:
                n -= 1
            total, part = 0.5 * part, np.sin(total)
    return np.sum(z) * x


@program((0.8,), (-0.8,), second=True, quick=True)
def assigned_before_the_exception(x):
    a = 1.0
    try:
        a = x * x
        b = math.sqrt(x) * a
    except ValueError:
        b = a * 2 * x
    return a * b


@program((0.8, 0), (0.8, 1), (-0.8, 1), second=True)
def how_far_it_got(x, k):
    n = 0
    try:
        n += 1
        y = math.sqrt(x)
        n += 1
        z = [x, math.log(x)][2 * k]
        n += 1
    except (ValueError, IndexError) as error:
        y = x * n
        z = y + len(str(error))
    else:
        z = z * n
    return y * z * n


@program((0.8,), (-0.8,), (0.15,), second=True)
def gone_on_after_exceptions(x):
    best = x
    for k in range(4):
        try:
            best = best * x + k
            best += math.sqrt(x - 0.1 * k)
        except ValueError:
            best *= 0.5
            continue
        best += 0.1
    return best


@program((0.8,), (-0.8,), second=True, quick=True)
def list_changed_before_the_exception(x):
    a = [x]
    try:
        a.append(x * x)
        a.append(math.log(x))
        return a[0] * a[1] * a[2]
    except ValueError:
        return a[0] * a[1] * len(a)


@program((np.array([0.3, 1.2, 2.1]), 0), (np.array([0.3, 1.2, 2.1]), 7), second=True)
def stores_before_the_exception(x, k):
    out = np.zeros(3)
    try:
        out[0] = x[0] ** 2
        out[1] = x[k] * x[1]
        out[2] = x[2]
    except IndexError:
        out[1] = out[0] * 3.0
    return np.sum(out**2)


@program(({"a": 0.8}, "a"), ({"a": 0.8}, "b"))
def items_set_before_the_exception(p, k):
    found = {}
    try:
        found["x"] = p["a"] ** 2
        found["y"] = p[k]
    except KeyError:
        found["y"] = found["x"] * 2
    return found["x"] * found["y"]


@program((np.array([1.0, 2.0]),), quick=True)
def attribute_that_numbers_lack(q):
    n = np.sum(q**2)
    try:
        small = np.finfo(n.type).eps * 3
    except AttributeError:
        small = 1e-15
    return np.sum(q**3) / np.sqrt(n) if n > small else np.sum(q)


class Store:
    def __init__(self, x):
        self.stock, self.total, self.parts = x, 0.0, [x]

    def ship(self, wanted):
        try:
            sent = min(wanted, self.stock)
            self.stock = self.stock - sent
            self.parts.append(sent)
            return sent
        finally:
            self.total += self.stock * self.parts[-1]


@program((1.3,), second=True)
def changes_of_objects_before_a_finally(x):
    stores = [Store(x * k) for k in range(1, 3)]
    sent = sum(s.ship(0.4 * x * x) for s in stores for _ in range(2))
    return sent * x + sum(s.total for s in stores)


class Shelf:
    def __init__(self, v):
        self.v, self.kept = v, []


@program((0.7, 1.2), wrt=(0, 1), second=True)
def objects_changed_once_in_a_try_with_branches(x, y):
    stores = [Shelf(x), Shelf(y)]
    t = 0.0
    for k in range(4):
        s = stores[k % 2]
        try:
            s.v = s.v * x
            for _ in range(k):
                s.v = s.v + y
        except ValueError:
            t += x
            raise
        try:
            new = s.v
            for j in range(2):
                new = new * x + j
            if k == 1:
                raise ValueError
        except ValueError:
            new = y
        else:
            s.v = s.v * new
        s.kept.append(new)
        t += new
    return stores[0].v * stores[1].v + t * stores[1].kept[0]


@program((0.7, 1.2), wrt=(0, 1), second=True)
def variable_of_a_loop_in_a_try_read_in_its_else(x, y):
    t = y
    for k in range(4):
        try:
            new = x + k
            for j in range(2):
                new = new * x + j
            if k == 1:
                raise ValueError
        except ValueError:
            kept = y
        else:
            t = t * new
            kept = new
        t += kept * kept
    return t


class Refused(Exception):
    pass


class Account:
    def __init__(self, cash):
        self.cash, self.count, self.log = cash, 0, []

    def pay(self, x):
        if x > self.cash:
            raise Refused("more than there is")
        self.cash -= x
        self.count += 1

    def deposit(self, x):
        if x > 1:
            self.cash += x * x
        else:
            self.cash += x
        self.log.append(x)
        if len(self.log) > 2:
            raise Refused
        self.count += 1


@program((positive(4),), second=True)
def changes_in_branches_of_methods_before_an_exception(x):
    account, missed = Account(x[0]), 0.0
    for v in x:
        try:
            account.deposit(v)
        except Refused:
            missed += v * account.cash
    return account.cash * (1 + account.count) + missed + sum(account.log)


@program((positive(3),), second=True)
def transfers_that_are_undone(x):
    first, second = Account(x[0]), Account(x[1])

    def transfer(v):
        try:
            first.pay(v)
            if v > 0.5 * x[2]:
                second.pay(v)
            else:
                second.deposit(v)
            return True
        except Refused:
            first.cash += 0.5 * v
            return False

    done = sum(transfer(v) for v in (0.1 * x[0], 0.3 * x[2], 9 * x[1]))
    return first.cash * second.cash * done


@program((np.array([0.7, 1.3, 0.4, 1.1]),), second=True)
def variables_set_in_branches_before_an_exception(x):
    y, z = x[0], 0.0
    for k, v in enumerate(x):
        try:
            if k % 2:
                y = y * v
            else:
                w = math.log(v - 0.5)
                y = y + w
            z = math.sqrt(v - 1.0)
        except ValueError:
            y = y * 1.5
        else:
            y = y + z
    return y * z


@program((np.array([0.7, 1.3, 0.4, 1.1]),), second=True)
def items_set_in_branches_before_an_exception(x):
    y = [x[0]]
    for k, v in enumerate(x):
        try:
            if k % 2:
                y.append(v)
            elif k == 2:
                y.append(math.log(v - 0.5) * y[-1])
            else:
                y[0] = y[0] * v
            y[-1] = y[-1] * math.sqrt(v - 1.0)
        except ValueError:
            y[0] = y[0] * 1.5
    return sum(v * v for v in y)


@program((np.array([0.7, 1.3, 0.4, 1.1]),), second=True)
def elements_set_in_branches_before_an_exception(x):
    y = np.zeros(4)
    for k in range(4):
        try:
            if x[k] > 1:
                y[k] = x[k] * x[k]
            else:
                y[k] = math.sqrt(x[k] - 0.5)
                y[0] += x[k]
            y[k] = y[k] * math.log(x[k] - 0.6)
        except ValueError:
            y[k] = y[k] + x[k] ** 3
    return y @ y


@program((np.array([0.7, 1.3, 0.4, 1.1]),), second=True)
def a_loop_left_from_a_branch_of_a_try(x):
    y, k = x[0], 0
    while True:
        try:
            if k == 2:
                y = y * x[1]
                raise ValueError
            if k > 4:
                break
            y = y + x[2]
            if y > 3:
                y = y * 0.5
        except ValueError:
            y = y * x[3]
        finally:
            k += 1
    return y
