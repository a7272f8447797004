"""Reading elements, slices and selections of arrays."""

import numpy as np

from tests.programs.declare import positive, program, signed

X = signed(6)
A = signed(3, 4)
B = signed(2, 3, 4)


@program((X,), second=True)
def elements(x):
    return x[0] * x[2] + x[-1] ** 2


@program((X, 2), (X, -1), wrt=(0,))
def element_by_variable(x, i):
    return x[i] ** 2 + x[i - 1] * x[0]


@program((A,))
def element_of_matrix(a):
    return a[1, 2] * a[0, -1] + a[2][3]


@program((A, (1, 2)), (A, [0, -1]))
def starred_index(a, i):
    return a[*i] * a[(i[0], *i[1:])] + a[i[0], *i[1:]]


@program((A, (1,)), quick=True)
def starred_store(a, i):
    b = 2 * a
    b[*i, 1] = a[*i, 0] * a[*i, 2]
    return b


@program((A,))
def rows(a):
    return a[0] * a[-1] + a[1, :]


@program((A,))
def columns(a):
    return a[:, 0] * a[:, -1] + a.T[1]


@program((X,), second=True)
def slices(x):
    return x[1:4] * x[:3] + x[3:] - x[-3:]


@program((X,))
def stepped_slices(x):
    return x[::2] * x[1::2] + x[::-1][:3] - x[5:2:-1]


@program((X, 1, 4), wrt=(0,))
def slices_by_variables(x, i, j):
    return x[i:j] ** 2 + x[j - 3 : j] + x[: j - i]


@program((A,), second=True)
def slices_of_two_axes(a):
    return a[1:, :-1] * a[:-1, 1:] + a[::2, 1:]


@program((A,), second=True)
def laplacian(a):
    return a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4.0 * a[1:-1, 1:-1]


@program((X,))
def new_axes(x):
    return x[:, np.newaxis] * x[None, :3]


@program((B,))
def ellipsis(b):
    return b[..., 0] * b[..., -1] + b[0, ..., 1:3].sum()


@program((B,))
def mixed_index(b):
    return b[1, :, 1:3] * b[0, ::-1, 2:]


@program((X,), quick=True)
def boolean_mask(x):
    return x[x > 0] ** 2


@program((A, A > 0.3), wrt=(0,))
def boolean_mask_of_matrix(a, mask):
    return np.sum(a[mask] ** 2) + a[mask][0]


@program((A,))
def boolean_mask_of_rows(a):
    return a[a[:, 0] > -9.0] * 2.0


@program((X, np.array([0, 2, 2, -1])), wrt=(0,), second=True)
def integer_array(x, index):
    return x[index] ** 2


@program((X,))
def integer_list(x):
    return x[[0, 0, 3]] * x[[1, 2, 1]]


@program((A, np.array([0, 2, 0])), wrt=(0,))
def integer_array_of_rows(a, index):
    return a[index] * 2.0 + a[index, 1:2]


@program((A, np.array([0, 2, 0]), np.array([1, 1, 1])), wrt=(0,))
def pairs_of_indices(a, i, j):
    return a[i, j] ** 2


@program((B, np.array([[0, 1], [1, 0]])), wrt=(0,))
def index_array_of_rank_two(b, index):
    return b[index, 0] * b[:, index[0], 1][0, 1]


@program((X, np.array([2, 0])), wrt=(0,))
def taken(x, index):
    return np.take(x, index) * x.take(index)


@program((X, 0.7), wrt=(0, 1))
def element_in_arithmetic(x, y):
    return x[0] * y + x[1:3] * x[0] - y / x[5]


@program((X,))
def element_of_element(x):
    y = x[1:]
    z = y[1:]
    return z[0] * y[0] * x[0] + z


@program((X,), second=True)
def finite_differences(x):
    d = x[1:] - x[:-1]
    return np.sum(d**2) + np.sum((d[1:] - d[:-1]) ** 2)


@program((X,), second=True)
def elements_in_loop(x):
    s = 0.0
    for i in range(1, 6):
        s = s * 0.5 + x[i] * x[i - 1]
    return s


@program((A,), second=True)
def slices_in_loop(a):
    s = a[0] * 0.0
    for i in range(1, 3):
        s = s + a[i] * a[i - 1, 0] + a[i, ::-1]
    return s


@program((X,))
def window_sums(x):
    best = np.sum(x[0:3])
    for i in range(1, 4):
        s = np.sum(x[i : i + 3])
        if s > best:
            best = s
    return best * best


@program((X,), quick=True)
def slice_object(x):
    part = slice(1, 4)
    return x[part] * x[part][0]


@program((X,))
def table_lookup(x):
    table = [2, 0, 1]
    s = 1.0
    for k in table:
        s = s * x[table[k]]
    return s


@program((X,))
def empty_slice(x):
    return np.sum(x[2:2] * 3.0) + x[0]


@program((X,))
def whole_slice(x):
    return x[:] * x[...]


@program((positive(3), positive(4, 3, seed=1)), wrt=(0, 1))
def parameters_by_element(p, data):
    a, b = p[0], p[1]
    s = 0.0
    for row in data:
        s = s + (a * row[0] + b * row[1] - p[2] * row[2]) ** 2
    return s


@program((A,))
def element_stored_under_names(a):
    first, last = a[0, 0], a[-1, -1]
    first, last = last, first * last
    return first - last * a[1, 1]


@program((np.arange(20.0).reshape(5, 4) / 7, np.array([0, 1, 2, 3, 0])), second=True, quick=True)
def picked_in_each_row(x, labels):
    rows = np.arange(len(labels))
    shifted = x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))
    return np.mean(shifted[rows, labels]) + np.sum(x[rows, 0] * x[rows, -1] ** 2)


@program((np.arange(12.0).reshape(4, 3) / 7, np.array([1, 2])), second=True, quick=True)
def picked_by_counts_that_change(x, columns):
    rows, pairs = np.arange(4), np.arange(2)
    rows[1] = 0
    blocks = x[rows, 0] ** 2
    return np.sum(blocks) + np.sum(x[pairs, np.array([[0, 1], [0, 0]])] ** 3) + np.sum(x[pairs, columns] ** 2)


@program((signed(5, 3),), (signed(2, 3),), second=True, quick=True)
def pairs_of_rows(x):
    i, j = np.triu_indices(x.shape[0], k=1)
    r2 = np.sum((x[i] - x[j]) ** 2, axis=1)
    return np.sum(1 / r2**3 - 1 / r2**2)


@program((signed(4), np.array([1, 0, 2, 1])), (signed(4), np.array([3, 3, 3, 3])), second=True)
def groups_of_equals(x, group):
    total = 0.0
    for k in np.unique(group):
        total += np.mean(x[group == k]) ** 2 * np.sum(x[np.nonzero(group - k)])
    return total


@program((X, np.array([1.0, -1.0, 2.0, 0.3, -2.0, 0.5])), (X[:2], np.array([-1.0, -2.0])), second=True)
def places_of_positives(x, y):
    (where,) = np.where(y > 0)
    return np.sum(x[where] ** 2 * x[where[::-1]]) + np.sum(np.repeat(x, 2) ** 2)


@program((signed(6), 2.0), second=True, quick=True)
def slope_by_frequencies(u, length):
    k = 2 * np.pi * np.fft.fftfreq(len(u), d=length / len(u))
    return np.sum(np.real(np.fft.ifft(1j * k * np.fft.fft(u))) ** 2)


@program((signed(6), 0.3, 3), (signed(6), 0.3, 0), wrt=(0, 1), second=True, quick=True)
def heat_in_place(x, c, n):
    u = x * 1.0
    for _ in range(n):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[0] - u[1] * c
        u[:] = u + np.sin(u)
    return u


@program((signed(4), signed(4, 4)), wrt=(0, 1), second=True)
def spread_views_of_what_changes(x, m):
    a = x * x
    wide = np.broadcast_to(a, (4, 4))
    rows, columns = np.broadcast_arrays(a[:, None], m)
    total = np.sum(wide * m)
    for i in range(3):
        a[i] = total * x[i + 1]
        total = total + np.sum(np.sin(rows) * columns) + np.sum(np.cos(wide) * m)
    return total


@program((signed(3, 3), signed(3)), wrt=(0, 1), second=True, quick=True)
def diagonal_of_what_changes(m, x):
    a = m * 2.0
    d, turned = np.einsum("ii->i", a), np.einsum("ij->ji", a)
    a[0, 0] = x[1]
    a *= 1.5
    return np.sum(d * x) + np.sum(turned[0] * x**2)


@program((signed(5), positive(4), np.array([3, 1, 1, 0])), wrt=(0, 1), second=True, quick=True)
def products_at_places(x, v, places):
    a = x.copy()
    np.multiply.at(a, places, v)
    np.divide.at(a, [2, 2], v[:2])
    np.negative.at(a, places[1:])
    return a * x


@program((signed(6), positive(4), np.array([4, 1, 1, 0])), wrt=(0, 1), second=True, quick=True)
def elements_read_twice_of_what_changes(x, p, places):
    a = x * 1.0
    b = a[::-1]
    b[0] = p[0]
    t = a[places]
    np.put(b, places, t * p)
    return np.sum(b * p[1]) + np.sum(t * t * a[places])


@program((signed(2, 3, 4),), second=True, quick=True)
def tuples_within_an_index(x):
    again = (1, 1, 0)
    return x[..., (0, 2)] * x[:, again, :2][:, :1] ** 2


@program((np.float64(1.2), signed(3)), wrt=(0, 1), second=True, quick=True)
def numbers_of_numpy_as_arrays(a, x):
    total = np.sum(x)
    return (a[..., None] * x + x / total[None]) * a[()] ** 2 + total[...] * np.mean(x)[None, None][0]


@program((positive(4), 1.3), wrt=(0, 1), second=True, quick=True)
def joined_by_an_index(x, a):
    padded = np.r_[0, x, a]
    table = np.c_[np.ones(4), x, x**2]
    moved = np.r_["0,2", x, padded[1:-1]] @ table
    return moved * np.sum((padded[1:] - padded[:-1]) ** 2)


@program((positive(3), 0.7), wrt=(0, 1), second=True, quick=True)
def joined_numbers_and_tuples(x, a):
    pairs = np.c_[x[0], a * x[1]]
    return np.c_[tuple(x * k for k in range(1, 4))] @ np.r_[x[0], a, 2] * np.r_[pairs, pairs][1, 0]


@program((positive(3, 4), 1.3), wrt=(0, 1), second=True, quick=True)
def grids_of_an_index(u, width):
    n, m = u.shape
    rows, columns = np.mgrid[0:n, 1 : m + 1]
    x, y = np.ogrid[-width:width:3j, 0:4]
    return np.sum(u**2 * rows / columns * np.exp(-(x**2) - y)) + np.sum(np.r_[0:width:5j, u[0]] ** 2)


@program((positive(5),), second=True, quick=True)
def distinct_values(x):
    values, counts = np.unique(x[[0, 1, 1, 3]] ** 2, return_counts=True)
    again, places = np.unique(x, return_inverse=True)
    return np.sum(values * counts) + np.sum(again[places] ** 2 * x) + np.prod(np.unique(x * x))
