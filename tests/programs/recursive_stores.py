"""Programs in which functions that cannot be put in where they are called change their arguments."""

PROGRAMS = {
    "a transform in place": """
def fft(a, w):
    n = a.shape[0]
    if n > 1:
        h = n // 2
        e = a[0::2].copy()
        o = a[1::2].copy()
        fft(e, w)
        fft(o, w)
        a[:h] = e + w * o
        a[h:] = e - w * o
def f(x, v):
    a = x * v
    fft(a, v[1])
    return np.sum(a * a)
""",
    "views of views": """
def go(u, s):
    n = len(u)
    if n > 1:
        u[1:] += s * u[:-1]
        go(u[::2], s * u[0])
        go(u[1::2], s)
def f(x, v):
    a = x * v
    go(a, v[0])
    return np.sum(a * np.sin(a))
""",
    "an argument": """
def go(u, s):
    n = len(u)
    if n > 1:
        u[1:] += s * u[:-1]
        go(u[::2], s * u[0])
        go(u[1::2], s)
def f(x, v):
    go(x, v[0])
    return np.sum(x * np.sin(x))
""",
    "quicksort": """
def qs(a, lo, hi):
    if lo < hi:
        p = a[hi]
        i = lo
        for j in range(lo, hi):
            if a[j] < p:
                t = a[i]
                a[i] = a[j]
                a[j] = t
                i += 1
        t = a[i]
        a[i] = a[hi]
        a[hi] = t
        qs(a, lo, i - 1)
        qs(a, i + 1, hi)
def f(x, v):
    a = x * v
    qs(a, 0, 3)
    return np.sum(a * v)
""",
    "two arrays that change places": """
def go(u, w, k):
    if k > 0:
        u[k] += w[k-1] * u[k-1]
        go(w, u, k-1)
def f(x, v):
    a = x * v
    b = np.sin(x)
    go(a, b, 3)
    return np.sum(a * v + b)
""",
    "functions that call each other": """
def ev(u, k, s):
    if k > 0:
        u[k] *= s
        od(u, k-1, s)
def od(u, k, s):
    if k > 0:
        u[k] += s * u[k-1]
        ev(u, k-1, s)
def f(x, v):
    a = x * v
    ev(a, 3, v[0])
    return np.sum(a * v)
""",
    "a number is returned": """
def go(u, k, s):
    if k == 0:
        return u[0]
    u[k] *= s
    r = go(u, k-1, s)
    return r * u[k]
def f(x, v):
    a = x * v
    r = go(a, 3, v[0])
    return np.sum(a * v) * r
""",
    "an array is returned": """
def go(u, k, s):
    if k == 0:
        return u * s
    u[k] *= s
    r = go(u, k-1, s)
    return r * u
def f(x, v):
    a = x * v
    r = go(a, 3, v[0])
    return np.sum(a * v * r)
""",
    "a loop that never runs": """
def go(u, k, s):
    if k > 0:
        u[k] *= s
        go(u, k-1, s)
def f(x, v):
    a = x * v
    for j in range(0):
        go(a, j, v[0])
    for j in range(3):
        go(a, j, v[j])
    return np.sum(a * v)
""",
    "disjoint views": """
def go(u, w, k):
    if k > 0:
        u[k] += w[k-1] * u[k-1]
        go(w, u, k-1)

def f(x, v):
    a = x * v
    go(a[:2], a[2:], 1)
    return np.sum(a * v)
""",
    "views of an argument": """
def go(u, w, k):
    if k > 0:
        u[k] += w[k-1] * u[k-1]
        go(w, u, k-1)

def f(x, v):
    go(x[:2], x[2:], 1)
    go(x[2:], x[:2], 1)
    return np.sum(x * v)
""",
    "an array from outside is read": """
T = np.array([1.0, 2.0, 3.0, 4.0])
def sc(u, k, s):
    if k > 0:
        u[k] *= s * T[k]
        sc(u, k-1, s * u[0])
def f(x, v):
    a = x * v
    sc(a, 3, v[0])
    return np.sum(a * v)
""",
    "an array from outside is passed": """
T = np.array([1.0, 2.0, 3.0, 4.0])
def sc(u, k, s):
    if k > 0:
        u[k] = s * T[k-1]
        sc(u, k-1, s * u[0])
def f(x, v):
    T[:] = [1.0, 2.0, 3.0, 4.0]
    sc(T, 3, 2.0)
    a = x * T
    return np.sum(a * v)
""",
    "keywords and defaults": """
def sc(u, k=3, *, s=2.0, t=None):
    if k > 0:
        u[k] *= s if t is None else t
        sc(u, k-1, t=s * u[0])
        sc(k=k-1, u=u)
def f(x, v):
    a = x * v
    sc(a, s=v[0])
    sc(k=2, u=a)
    sc(u=a, t=v[1])
    return np.sum(a * v)
""",
}
