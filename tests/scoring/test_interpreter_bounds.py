"""No program gets past the interpreter's bounds or out of its subset: it prints nothing."""

from __future__ import annotations

import pytest

from mmdyn.scoring.interpreter.bounds import STEPS, Meter
from mmdyn.scoring.interpreter.source import parse
from mmdyn.scoring.interpreter.statements import output

_MANY = ", ".join(f"a{number}=0" for number in range(900))

# Each would take very long, fill the memory, or bring the host down.
HOSTILE = {
    "endless": "while True: pass",
    "endless list": "l = []\nwhile True: l.append(0)",
    "power tower": "print(9 ** 9 ** 9 ** 9)",
    "power of two": "print(len(str(2 ** 2 ** 2 ** 2 ** 2 ** 2)))",
    "products": "x = 2 ** 9000\nwhile True: y = x * x // x",
    "squares": "x = 3\nfor i in range(60): x = x * x\nprint(x > 0)",
    "quotients": "x = 3 ** 6000\ny = 7 ** 2000\nwhile True: x // y",
    "shift": "print(1 << 10 ** 9)",
    "negative rounding": "print(round(10, -10 ** 9))",
    "long text": "print('a' * 10 ** 9)",
    "long list": "print([0] * 10 ** 9)",
    "list doubling": "l = [1]\nwhile True: l = l + l",
    "list doubling in place": "l = [1]\nwhile True: l += l",
    "text doubling": "s = 'a'\nwhile True: s += s",
    "recursion": "def f(n): return f(n + 1)\nprint(f(0))",
    "mutual recursion": "def f(n): return g(n)\ndef g(n): return f(n)\nprint(f(0))",
    "recursive lambda": "f = lambda n: f(n + 1)\nprint(f(0))",
    "self-application": "print((lambda f: f(f))(lambda f: f(f)))",
    "huge sum": "print(sum(range(10 ** 12)))",
    "huge list of a range": "print(len(list(range(10 ** 12))))",
    "huge range": "print(len(range(10 ** 30)))",
    "long integer": "print(str(10 ** 5000))",
    "long integer read": "print(int('9' * 100000))",
    "wide field": "print(f'{1:999999999}')",
    "wide computed field": "w = 10 ** 9\nprint(f'{1:{w}}')",
    "many decimals": "print(f'{1:.999999999f}')",
    "wide percent": "print('%999999999d' % 1)",
    "wide computed percent": "print('%*d' % (10 ** 9, 1))",
    "join": "s = ','.join(['a' * 1000] * 90)\nprint(s.join([s] * 1000))",
    "replace": "print(('a' * 90000).replace('a', 'b' * 90000))",
    "replace nothing": "print(('a' * 90000).replace('', 'b' * 90000))",
    "f-string": "s = 'a' * 90000\nprint(f'{s}{s}')",
    "separator": "print(*[1] * 1000, sep='a' * 90000)",
    "comprehensions": "print([[a for a in range(1000)] for b in range(1000)])",
    "nested loops": "print(sum(1 for a in range(9999) for b in range(9999)))",
    "dict": "d = {}\nfor i in range(10 ** 9): d[i] = i",
    "shared lists printed": "l = [0]\nfor i in range(18): l = [l, l]\nprint(l)",
    "shared lists compared": "l, m = [0], [0]\nfor i in range(18): l, m = [l, l], [m, m]\nprint(l == m)",
    "a list in itself": "l = []\nl.append(l)\nprint(l)",
    "a list in itself compared": "l, m = [], []\nl.append(l)\nm.append(m)\nprint(l == m)",
    "a dict in itself": "d = {}\nd[0] = d\nprint(d)",
    "nested list": "l = []\nfor i in range(9000): l = [l]\nprint(l)",
    "nested key": "l = ()\nfor i in range(9000): l = (l,)\nprint({l: 1})",
    "nested zip": "z = [1, 2]\nfor i in range(9000): z = zip(z)\nprint(list(z))",
    "nested generators": "g = [1]\nfor i in range(900): g = (x for x in g)\nprint(list(g))",
    "generators never asked": "g = [1]\nfor i in range(9000): g = (x for x in g)\nwhile True: pass",
    "a generator in a recursion": "def f(n): return sum(f(n - 1) for i in [1])\nprint(f(99))",
    "nested map": "g = [1]\nfor i in range(900): g = map(str, enumerate(g))\nprint(list(g))",
    "a generator of its own list": "l = [1]\nl.extend(x for x in l)\nprint(l)",
    "wide zip": "l = [range(10 ** 9)] * 9000\nfor t in zip(*l): pass",
    "filtered in vain": "print(list(filter(None, [0] * 9000)) * 9)\nwhile True: list(filter(None, [0] * 9000))",
    "any in vain": "s = set(range(9000))\nwhile True: any(s)",
    "format fields": "t = '{0}' * 20000\nwhile True: t.format('')",
    "format of long texts": "s = 'a' * 90000\nprint('{0}{0}'.format(s))",
    "format with a wide field": "print('{:999999999}'.format(1))",
    "star targets": "while True: a, *b = range(99999)",
    "nested closures": "f = lambda: 0\nfor i in range(9000): f = (lambda f: lambda: f())(f)\nprint(f())",
    "keys of one hash": "print(len({i * (2 ** 61 - 1) for i in range(2000)}))",
    "tuples of one hash": (
        "p = (-1, -2)\nprint(len({(a, b, c, d, e, f, g, h) for a in p for b in p for c in p for d in p for e in p"
        " for f in p for g in p for h in p}))"
    ),
    "fraction in a range": "print(1.5 in range(10 ** 12))",
    "text searched": "s, t = 'a' * 2499, 'a' * 1200 + 'b'\nwhile True: s.find(t)",
    "sorting": "l = list(range(5000, 0, -1))\nwhile True: sorted(l)",
    "sort that never ends": "def k(x):\n    while True: pass\nprint(sorted([1, 2], key=k))",
    "factorial": "import math\nprint(math.factorial(10 ** 6) > 0)",
    "factorials": "import math\nwhile True: math.factorial(1000)",
    "printing": "while True: print('a' * 1000)",
    "many parameters": f"def f({_MANY}): pass\nfor i in range(1000): f({_MANY.replace('=0', '=1')})\nprint(1)",
    "many defaults": f"def f({_MANY}): pass\nfor i in range(1000): f()\nprint(1)",
    "many parameters defined": f"for i in range(1000): lambda {_MANY.replace('=0', '')}: 0\nprint(1)",
    "a long function defined": "for i in range(1000):\n    def f():\n" + "        x = y = z\n" * 900 + "print(1)",
    "many names imported": f"for i in range(1000): import {', '.join(['a'] * 900)}\nprint(1)",
    "all names imported": "for i in range(9999): from math import *\nprint(1)",
    "many names of a comprehension": f"for i in range(1000): [0 for ({'a, ' * 900}) in []]\nprint(1)",
    "functions in functions": "print(" + "(lambda: " * 30 + "1" + ")()" * 30 + ")",
    "long text looked through": "s = 'a' * 90000\nfor i in range(1000): s.isalpha()\nprint(1)",
}

# Each reaches for what is not given, or does what only looks right: Python would fail, or prints what differs from run to run.
REFUSED = {
    "classes": "print(().__class__.__bases__[0].__subclasses__())",
    "owner of a builtin": "print(print.__self__)",
    "globals of a function": "def f(): pass\nprint(f.__globals__)",
    "format field": "print('{0.__class__}'.format(1))",
    "format field of a name": "print('{a.real}'.format(a=1))",
    "format index": "print('{0[0]}'.format([1]))",
    "format spec within a field": "print('{:{}}'.format(1, 9))",
    "format fields with and without numbers": "print('{0}{}'.format(1, 2))",
    "format without a value": "print('{} {}'.format(1))",
    "format of a set": "print('{}'.format({1, 2}))",
    "dunder name": "print(__builtins__)",
    "import function": "__import__('os').system('true')\nprint(1)",
    "os": "import os\nprint(os.getcwd())",
    "module of a module": "import math\nprint(math.__loader__)",
    "eval": "print(eval('1'))",
    "open": "print(open('/etc/passwd').read())",
    "input": "print(input())",
    "getattr": "print(getattr(1, 'real'))",
    "a function printed": "print(len)",
    "a module printed": "import math\nprint([math])",
    "an iterator printed": "print(map(int, '12'))",
    "class": "class A: pass\nprint(A)",
    "walrus": "print((n := 1))",
    "try": "try:\n    print(1)\nexcept ValueError:\n    print(2)",
    "yield": "def f(): yield 1\nprint(list(f()))",
    "any number of arguments": "def f(*a): return a\nprint(f(1))",
    "today": "from datetime import date\nprint(date.today())",
    "now": "import datetime\nprint(datetime.datetime.now().year)",
    "a set of texts in order": "print({'a', 'b'})",
    "a set of texts as a list": "print(list({'a', 'b'})[0])",
    "a set of texts gone through": "for c in {'a', 'b'}: print(c)",
    "a set of texts sorted by length": "print(sorted({'a', 'b'}, key=len))",
    "the first of equals in a set": "print(max({'a', 'b'}, key=len))",
    "a set of numbers in order": "print({1, 2})",
    "a set within a list": "print([{1, 2}])",
    "a set as a list": "print(list({1, 2}))",
    "a set gone through": "print([c for c in {1, 2}])",
    "a set unpacked": "a, b = {1, 2}\nprint(a)",
    "a set as arguments": "print(*{1, 2})",
    "a set joined": "print(','.join({'a', 'b'}))",
    "a set numbered": "print(list(enumerate({1, 2})))",
    "a set of floats summed": "print(sum({0.1, 0.2, 0.3, 1e16, -1e16}))",
    "an element taken from a set": "print({1, 2}.pop())",
    "not a number in a set": "n = float('nan')\nprint(min({n, 1.0, 2.0}))",
    "not a number in a tuple in a set": "n = float('nan')\nprint(sorted({('a', n), ('a', 1.0)}))",
    "not a number as a key": "print(len({float('nan'): 1}))",
    "nonlocal without a function": "def f():\n    nonlocal x\n    x = 1\nf()\nprint(1)",
    "too few values for a star": "a, *b, c = [1]\nprint(a)",
    "two stars": "a, *b, *c = [1, 2]\nprint(a)",
    "a list changed while it is sorted": "l = [2, 1]\nl.sort(key=lambda x: l.append(x) or x)\nprint(l)",
    "identity of numbers": "print(1000 is 500 * 2)",
    "a complex number": "print((-8) ** (1 / 3))",
    "a complex literal": "print(2j)",
    "bytes": "print(b'a')",
    "undefined": "print(x)",
    "read before it is local": "x = 1\ndef f():\n    x += 1\n    return x\nprint(f())",
    "a loop's name after a comprehension": "[i for i in range(3)]\nprint(i)",
    "a shadowed builtin": "print = 3\nprint(1)",
    "an undefined annotation": "def f(x: List): return x\nprint(f(1))",
    "a failure after output": "print(1)\nprint(1 / 0)",
    "an index": "print([1][1])",
    "a key": "print({}['a'])",
    "mixed types": "print('a' + 1)",
    "mixed order": "print(sorted([1, 'a']))",
    "a list as a key": "print({[]: 1})",
    "changed while gone through": "d = {1: 1}\nfor k in d: d[k + 1] = 1\nprint(d)",
    "an assertion": "assert False\nprint(1)",
    "missing argument": "def f(a): return a\nprint(f())",
    "unknown argument": "def f(a): return a\nprint(f(1, b=2))",
    "argument given twice": "def f(a): return a\nprint(f(1, a=2))",
    "too many values": "a, b = 1, 2, 3\nprint(a)",
    "a list sought in a text": "print([] in 'a')",
    "sets changed in place": "a = b = {1}\na |= {2}\nprint(b)",
    "keywords for methods": "print('a b'.split(sep=None, x=1))",
}


def printed(source: str, meter: Meter | None = None) -> str | None:
    tree = parse(source)
    return output(tree, meter or Meter()) if tree else None


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_program_prints_nothing(source: str) -> None:
    assert parse(source)
    assert printed(source) is None


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_in_the_subset_prints_nothing(source: str) -> None:
    assert parse(source)
    assert printed(source) is None


def test_what_nearly_passes_a_bound() -> None:
    assert printed("print(len('a' * 100000), len(str(2 ** 9999)), round(1.5, 400))") == "100000 3010 1.5\n"
    assert printed("def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(199))") == "199\n"
    assert printed("def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(200))") is None
    assert printed("print(sum(range(10000)))") == "49995000\n"
    assert printed("print(f'{1:99}'.count(' '))") == "98\n"


def test_iterators_ask_each_other_as_deep_however_deep_the_caller_is() -> None:
    def run(depth: int, generators: int) -> str | None:
        if depth:
            return run(depth - 1, generators)
        return printed(f"def f(n): return 1 if n == 0 else sum(f(n - 1) for i in [1])\nprint(f({generators}))")

    assert run(0, 20) == run(600, 20) == "1\n"
    assert run(0, 21) is run(600, 21) is None


def test_steps_are_the_same_in_every_run_however_deep_the_caller_is() -> None:
    source = "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(sum(f(n) for n in range(60)))"

    def used(depth: int) -> int:
        if depth:
            return used(depth - 1)
        meter = Meter()
        assert printed(source, meter) == "1770\n"
        return STEPS - meter.left

    assert used(0) == used(400) > 0
    assert printed(source, Meter(used(0) - 1)) is None
