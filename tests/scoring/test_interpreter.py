"""The interpreter prints what Python prints, byte for byte, or nothing at all."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmdyn.scoring.interpreter.bounds import Meter
from mmdyn.scoring.interpreter.source import parse
from mmdyn.scoring.interpreter.statements import output

# Programs and, behind "#>", the lines that Python 3.11 prints for them.
PRINTED = r'''
print(7 // 2, -7 // 2, 7 % -3, 7 / 2, 2 ** 10, 2 ** -1, 2 ** 0.5)
#> 3 -4 -2 3.5 1024 0.5 1.4142135623730951
---
print(1e16, 1e-5, 0.1 + 0.2, 100.0, 1e22, float("inf"), -0.0)
#> 1e+16 1e-05 0.30000000000000004 100.0 1e+22 inf -0.0
---
print([1, "a'b", None, True, 2.5], (1,), (), {}, {"a": [1]}, set())
#> [1, "a'b", None, True, 2.5] (1,) () {} {'a': [1]} set()
---
print({3}, {"one"}, range(3), range(1, 10, 2))
#> {3} {'one'} range(0, 3) range(1, 10, 2)
---
print("a", 1, sep="-", end="!\n", flush=True)
print()
#> a-1!
#>
---
x = y = [1]
y.append(2)
print(x, x == y, x is None)
#> [1, 2] True False
---
a, (b, c) = 1, (2, 3)
a, b = b, a
print(a, b, c)
#> 2 1 3
---
total = 0
for i in range(10):
    if i == 3:
        continue
    if i == 6:
        break
    total += i
else:
    total = -1
print(total)
#> 12
---
n = 27
steps = 0
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    steps += 1
else:
    steps += 1000
print(steps)
#> 1111
---
def fact(n):
    """Doc."""
    if n <= 1:
        return 1
    return n * fact(n - 1)
print(fact(25))
#> 15511210043330985984000000
---
def area(width, height=2, *, scale=1):
    return width * height * scale
print(area(3), area(3, 4), area(height=5, width=2, scale=10))
#> 6 12 100
---
def outer():
    k = 3
    def inner(x):
        return x * k
    k = 4
    return inner
print(outer()(5))
#> 20
---
count = 0
def bump():
    global count
    count += 1
bump()
bump()
print(count)
#> 2
---
def nothing():
    pass
print(nothing())
#> None
---
fs = [lambda: i for i in range(3)]
print([f() for f in fs], (lambda a, b=2: a + b)(1))
#> [2, 2, 2] 3
---
x = 5
print([x for x in range(3)], x, {k: v for k, v in zip("ab", [1, 2])}, len({n % 3 for n in range(9)}))
#> [0, 1, 2] 5 {'a': 1, 'b': 2} 3
---
print([(a, b) for a in range(3) for b in range(a) if (a + b) % 2])
#> [(1, 0), (2, 1)]
---
print(sum(n * n for n in range(5)), max(n % 4 for n in range(9)), any(n > 3 for n in [1, 5]), all([]))
#> 30 3 True True
---
print(sorted(["b", "A", "c"]), sorted([3, 1, 2], reverse=True), sorted(["bb", "a", "cc"], key=len))
#> ['A', 'b', 'c'] [3, 2, 1] ['a', 'bb', 'cc']
---
print(max(["a", "bbb", "cc"], key=lambda s: len(s)), min([], default=0), min(3, 1, 2), max({"b", "a"}))
#> bbb 0 1 b
---
data = {"x": 1, "y": 3}
print(max(data, key=data.get), data.get("z"), data.get("z", 0), list(data), list(data.items()))
#> y None 0 ['x', 'y'] [('x', 1), ('y', 3)]
---
d = {}
for word in "a b a".split():
    d[word] = d.get(word, 0) + 1
d.setdefault("c", []).append(1)
print(d, "a" in d, len(d), d.pop("a"), d.keys(), d.values())
#> {'b': 1, 'c': [1]} True 3 2 dict_keys(['b', 'c']) dict_values([1, [1]])
---
print(f"{3.14159:.2f}|{42:5d}|{'a':>3}|{1234567:,}|{0.256:.1%}|{'q'!r}|{7:03}|{True}|{[1, 'a']}")
#> 3.14|   42|  a|1,234,567|25.6%|'q'|007|True|[1, 'a']
---
width = 6
print(f"{2:{width}.1f}", f"{1 + 1=}", "%d of %s: %.2f%%" % (1, "two", 3.14159))
#>    2.0 1 + 1=2 1 of two: 3.14%
---
print("{:.2f}|{}|{{}}".format(3.14159, [1]), "{1} {0:>4} {1}".format("a", 2), "{n:,} {}".format(0, n=1234))
#> 3.14|[1]|{} 2    a 2 1,234 0
---
print(list(map(int, "1 2 3".split())), list(filter(lambda n: n > 1, [1, 2, 3])), list(filter(None, [0, 1])))
#> [1, 2, 3] [2, 3] [1]
---
print(list(zip([1, 2], "ab")), list(enumerate("ab", 1)), list(reversed([1, 2, 3])), list(enumerate(zip([1], [2]))))
#> [(1, 'a'), (2, 'b')] [(1, 'a'), (2, 'b')] [3, 2, 1] [(0, (1, 2))]
---
a, b = map(int, ["4", "5"])
print(a * b)
#> 20
---
s = "Hello, World"
print(s.lower(), s.upper(), s.count("l"), s.index("W"), s.find("z"), s[::-1], s[-5:], s.replace("l", ""))
#> hello, world HELLO, WORLD 3 7 -1 dlroW ,olleH World Heo, Word
---
print("a-b".split("-"), " x ".strip(), "x".join(["1", "2"]), "12".isdigit(), "ab".startswith("a"),)
#> ['a', 'b'] x 1x2 True True
---
xs = [5, 3, 1]
xs.sort()
xs.insert(1, 9)
xs.extend([7, 7])
xs.remove(3)
print(xs, xs.pop(), xs.pop(0), xs.index(9), xs.count(7), xs[1:], xs)
#> [9, 5, 7] 7 1 0 1 [5, 7] [9, 5, 7]
---
grid = [[0] * 3 for _ in range(2)]
grid[1][2] += 5
grid[0][-1] = 1
print(grid)
#> [[0, 0, 1], [0, 0, 5]]
---
a = {1, 2, 3}
b = {2, 3, 4}
print(sorted(a & b), sum(a | b), a - b, a ^ b == {4, 1}, len(a.union(b)), a.intersection([1]), {1} <= a, 2 in a, bool(a), max(b))
#> [2, 3] 10 {1} True 4 {1} True True True 4
---
print(len(set(["red", "blue", "red"])), sorted({"red", "blue"}))
#> 2 ['blue', 'red']
---
print(round(2.5), round(3.14159, ndigits=2), round(1234, -2), abs(-3), divmod(17, 5), pow(2, 5))
#> 2 3.14 1200 3 (3, 2) 32
---
print(int("12"), int(3.9), int("ff", 16), float("1.5"), str(1.0), bool([]), list("ab"), tuple([1]), dict([("a", 1)]), dict(b=2))
#> 12 3 255 1.5 1.0 False ['a', 'b'] (1,) {'a': 1} {'b': 2}
---
import math
print(math.sqrt(16), math.pi, math.floor(2.7), math.ceil(2.1), math.factorial(5), math.gcd(12, 18), math.degrees(math.pi))
#> 4.0 3.141592653589793 2 3 120 6 180.0
---
from math import sqrt, atan2 as angle
print(sqrt(2), angle(1, 1))
#> 1.4142135623730951 0.7853981633974483
---
from math import *
print(hypot(3, 4), log10(1000), isclose(1, 1.1, rel_tol=0.2))
#> 5.0 3.0 True
---
from datetime import date
a = date(2020, 2, 28)
b = date(2020, 3, 1)
print((b - a).days, a.year, a < b, a, b - a)
#> 2 2020 True 2020-02-28 2 days, 0:00:00
---
import datetime
print((datetime.date(2000, 2, 1) - datetime.date(1999, 2, 1)).days // 365, datetime.date(2024, 7, 4).month)
#> 1 7
---
import statistics
print(statistics.mean([1, 2, 4]), statistics.median([3, 1, 2]), statistics.mean([1, 2, 3]))
#> 2.3333333333333335 2 2
---
from typing import List
import numpy as np
def mean(values: List[float]) -> float:
    return sum(values) / len(values)
print(mean([1, 2, 3]))
#> 2.0
---
if __name__ == "__main__":
    print("main")
#> main
---
x: int = 3
x -= 1
x *= 4
x **= 2
x //= 3
x %= 6
print(x)
#> 3
---
print(1 < 2 < 3, 1 < 3 < 2, not 0, 1 and 0 or "x", None or 5, "" and 1, 3 if [] else 4, 1 == 1.0, "a" in "cat", 4 not in [1])
#> True False True x 5  4 True True True
---
print(5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 16 >> 2, -3, +3, True + True)
#> 1 7 6 -6 16 4 -3 3 2
---
sum = 0
for v in [1, 2]:
    sum += v
print(sum)
#> 3
---
xs = [1, 2, 3, 4]
for v in xs:
    if v == 2:
        xs.remove(v)
print(xs)
#> [1, 3, 4]
---
print([1, 2] + [3], (1,) * 2, "ab" * 2, [0] * -1, [1, 2] < [1, 3], (1, "a") == (1, "a"))
#> [1, 2, 3] (1, 1) abab [] True True
---
def f(x, acc=[]):
    acc.append(x)
    return acc
f(1)
print(f(2))
#> [1, 2]
---
print(10 ** 9 in range(10 ** 12), len(range(0, 10, 3)), range(10)[2:5], range(10)[-1])
#> True 4 range(2, 5) 9
---
print(*[1, 2], *"ab", sep=",")
print([*range(3), 9], max(*[4, 6]))
#> 1,2,a,b
#> [0, 1, 2, 9] 6
---
assert 1 + 1 == 2, "no"
print("° 中文 é", "tab\tx", 'it\'s')
#> ° 中文 é tab	x it's
---
xs = [1, 2]
xs += (3,)
ys = xs[:]
ys[0] = 9
print(xs, ys)
#> [1, 2, 3] [9, 2, 3]
---
def sign(n):
    for bound, word in ((0, "neg"), (1, "zero")):
        if n < bound:
            return word
    else:
        return "pos"
print(sign(-1), sign(0), sign(1))
#> neg zero pos
---
def counter():
    count = 0
    def bump():
        nonlocal count
        count += 1
        return count
    return bump
bump = counter()
bump()
print(bump(), str([1.0]))
#> 2 [1.0]
---
first, *middle, last = range(5)
*most, _ = "ab"
for a, *b in [(1, 2, 3), (4,)]:
    print(first, middle, last, most, a, b)
#> 0 [1, 2, 3] 4 ['a'] 1 [2, 3]
#> 0 [1, 2, 3] 4 ['a'] 4 []
---
primes = [2]
for n in (k for k in range(3, 30) if all(k % p for p in primes)):
    primes.append(n)
print(primes)
for n in filter(lambda k: all(k % p for p in primes), range(30, 40)):
    primes.append(n)
print(primes[-2:])
#> [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
#> [31, 37]
---
def f(g):
    l.append(9)
    return sum(g)
l = [1, 2]
kept = {"a": (x for x in l), "b": [map(str, l)]}
print(f(x for x in l), sum(kept["a"]), list(kept["b"][0]))
#> 12 12 ['1', '2', '9']
---
k = 1
g = (x * k for x in [1, 2])
k = 3
z = zip([1, 2], "ab")
print(list(g), list(g), list(z), list(z), 2 in (x for x in [1, 2]))
#> [3, 6] [] [(1, 'a'), (2, 'b')] [] True
---
def seen(x):
    print("seen", x)
    return x > 1
print(any(seen(x) for x in [1, 2, 3]))
l = [m for m in [map(seen, [7])]]
print("before", list(l[0]))
#> seen 1
#> seen 2
#> True
#> seen 7
#> before [True]
---
n = 0
for i, v in enumerate(x + n for x in range(3)):
    n += v
a, b = map(int, "4 5".split())
nums = map(int, "1 2".split())
print(n, a * b, max(nums))
#> 4 20 2
---
l = [1]
l.extend(len(l) for _ in range(3))
l += (len(l) for _ in range(2))
print(l)
#> [1, 1, 2, 3, 4, 5]
---
print(2 ** 100, 10 ** 20 // 3, -17 % 5, 17 % -5, 1_000, 0x1F, 0b101, 1e3, 5 // 2.0)
#> 1267650600228229401496703205376 33333333333333333333 3 -3 1000 31 5 1000.0 2.0
---
def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))
print([n for n in range(30) if is_prime(n)])
#> [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
---
people = [("Ann", 30), ("Bob", 25)]
people.sort(key=lambda p: p[1])
print(people[0][0], sorted(people, key=lambda p: (-p[1], p[0]))[0])
#> Bob ('Ann', 30)
'''.strip()


def printed(source: str) -> str | None:
    tree = parse(source)
    return output(tree, Meter()) if tree else None


@pytest.mark.parametrize("source", PRINTED.split("\n---\n"))
def test_prints_what_python_prints(source: str) -> None:
    lines = [line.removeprefix("#>").removeprefix(" ") for line in source.splitlines() if line.startswith("#>")]
    assert lines
    assert printed(source) == "".join(line + "\n" for line in lines)


@pytest.mark.parametrize(
    "source",
    [
        "print(1", "print 1", "", " print(1)", "\x00", "\ud800", "print('\\d')", "x = 1if 1 else 2", "print(0x1for x in y)", "print('it', 1if 1 else 2)", "print(f'{1if 1 else 2}')", "1" * 102, "print(b'\\u00b0')", "print('\\$')",  "print(0.isdigit())", "return 1", "x = 1\nbreak",
        "while x:\n    pass\nelse:\n    continue", "for x in y:\n    def f(): break", "if x:\n    return", "'\\400'",
        "-" * 19000 + "1", "(" * 199 + "1" + ")" * 199 + "+", "1" + "+1" * 9000, "x" + ".a" * 9000, "not " * 4900 + "1", "x = 1\n" * 3400,
        "\n".join(" " * depth + "if 1:" for depth in range(99)), "f(" * 5000, "lambda: " * 2000 + "1",
    ],
)  # fmt: skip
def test_what_is_no_program(source: str) -> None:
    # no warning either: it would be an error here
    tree = parse(source)
    assert tree is None or not tree.body


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("x = 30 # takes 30minutes, or 1in\nprint(x)", "30"),
        ('x = \'3inch\'\nprint(x, """5in""")', "3inch 5in"),
        ("x = 20\nprint(f'{x:.1f}in')", "20.0in"),
        ("print('5 \\u00b0\\x41 \\U0001F600')", "5 °A 😀"),
        ("count2in = 1 # Step 2.information\nprint(count2in)", "1"),
    ],
)
def test_what_only_looks_as_if_python_warned(source: str, shown: str) -> None:
    assert printed(source) == f"{shown}\n"


WORDS = (
    "print", "(", ")", "[", "]", "{", "}", ",", ":", "=", "==", "+", "-", "*", "**", "/", "//", "%", "<<", "<", "in", "not", "and", "or", "is",
    "if", "else", "for", "while", "def f(x):", "return", "lambda x:", "\n", "\n    ", "x", "y", "f", "0", "1", "7", "10**4", "2.5", "'a'", "'%s'",
    "f'{x}'", "f'{x:{y}}'", "[1, 2]", "{1: 2}", "{1, 'a'}", "range", "len", "sum", "map", "zip", "sorted", "min", "str", "int", "set", "dict",
    ".append", ".split", ".join", ".items", ".get", ".sort", ".__class__", "import math", "math.", "sqrt", "date(2020, 1, 31)",
    "from datetime import date", "global x", "break", "continue", "pass", "+=", "*x", "x[0]", "x[::-1]", "print(x)", "x = ", "y = ", ";",
)  # fmt: skip
SOUP = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
LINES = st.lists(st.sampled_from(sorted({line for line in PRINTED.splitlines() if line})), max_size=8).map("\n".join)


@given(st.one_of(SOUP, LINES, st.text(max_size=80)))
def test_no_text_makes_it_raise(source: str) -> None:
    shown = printed(source)
    assert shown is None or isinstance(shown, str)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(), st.text(max_size=5).filter(str.isprintable)
)
NESTED = st.recursive(
    VALUES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner), st.dictionaries(st.integers(0, 9), inner)
    ),
    max_leaves=10,
)


@given(NESTED)
def test_values_are_written_as_python_writes_them(value: object) -> None:
    named = "inf = float('inf')\nnan = float('nan')\n"
    if "\\" not in repr(value):
        assert printed(f"{named}print({value!r})\nprint([str({value!r})])") == f"{value}\n{[str(value)]}\n"


SIGNS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


@given(st.integers(-999, 999), st.integers(-99, 99), st.floats(-1e6, 1e6), st.sampled_from(sorted(SIGNS)))
def test_arithmetic_is_python_s(left: int, right: int, point: float, sign: str) -> None:
    for one, other in ((left, right), (left, point), (point, right)):
        fails = sign in ("/", "//", "%") and other == 0
        expected = None if fails else f"{SIGNS[sign](one, other)}\n"
        assert printed(f"print(({one!r}) {sign} ({other!r}))") == expected
