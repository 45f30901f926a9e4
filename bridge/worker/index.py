"""Subscripts: sums of indices times numbers, quotients and remainders, kept simple by intervals.

A subscript is a Sum: terms (a factor and an Atom) and a constant. An Atom is an index of the
statement, or the quotient or remainder of a Sum by a number; each knows the interval it lies in,
so that (i*4+j)/4 becomes i and (i*4+j)%4 becomes j where j is below 4.
"""
import math


class Atom:
    def __init__(self, text, low, high, inner=None, sign=None, divisor=None):
        self.text, self.low, self.high = text, low, high
        self.inner, self.sign, self.divisor = inner, sign, divisor   # of a quotient or remainder


def rejoined(terms):
    """The terms with k*c*(x/c) + k*(x%c) as k*x, and the constant of x; None: there are none."""
    for i, (factor, low) in enumerate(terms):
        if low.sign != "%":
            continue
        for j, (other, high) in enumerate(terms):
            if high.sign == "/" and high.divisor == low.divisor and \
                    other == factor * low.divisor and str(high.inner) == str(low.inner):
                rest = [t for k, t in enumerate(terms) if k not in (i, j)]
                whole = low.inner.times(factor)
                return rest + whole.terms, whole.constant
    return None


class Sum:
    def __init__(self, terms=(), constant=0):
        again = rejoined(terms)
        while again is not None:
            terms, constant = again[0], constant + again[1]
            again = rejoined(terms)
        merged = {}
        for factor, atom in terms:
            old = merged.get(atom.text)
            merged[atom.text] = (factor + (old[0] if old else 0), atom)
        self.terms = [(f, a) for f, a in merged.values() if f != 0]
        self.constant = constant

    @property
    def low(self):
        return self.constant + sum(f * (a.low if f > 0 else a.high) for f, a in self.terms)

    @property
    def high(self):
        return self.constant + sum(f * (a.high if f > 0 else a.low) for f, a in self.terms)

    def plus(self, other):
        if isinstance(other, int):
            return Sum(self.terms, self.constant + other)
        return Sum(self.terms + other.terms, self.constant + other.constant)

    def times(self, factor):
        return Sum([(f * factor, a) for f, a in self.terms], self.constant * factor)

    def index(self):
        """The name of the index that this is, or None."""
        if len(self.terms) == 1 and self.constant == 0 and self.terms[0][0] == 1:
            atom = self.terms[0][1]
            return atom.text if atom.inner is None else None
        return None

    def parts(self, divisor):
        """What the divisor divides, already divided, and the rest."""
        whole = Sum([(f // divisor, a) for f, a in self.terms if f % divisor == 0],
                    self.constant // divisor)
        rest = Sum([(f, a) for f, a in self.terms if f % divisor], self.constant % divisor)
        return whole, rest

    def over(self, divisor):
        """The quotient, rounded down."""
        if divisor == 1:
            return self
        whole, rest = self.parts(divisor)
        if 0 <= rest.low and rest.high < divisor:
            return whole
        common = math.gcd(divisor, *[f for f, _ in rest.terms])
        if common > 1:
            return whole.plus(rest.parts(common)[0].plus(0).over(divisor // common))
        if len(rest.terms) == 1 and rest.constant == 0 and rest.terms[0][0] == 1 and \
                rest.terms[0][1].sign == "/":
            atom = rest.terms[0][1]
            return whole.plus(atom.inner.over(atom.divisor * divisor))
        return whole.plus(Sum([(1, quotient(rest, divisor))]))

    def modulo(self, divisor):
        """The remainder, never negative."""
        if divisor == 1:
            return Sum()
        rest = self.parts(divisor)[1]
        if 0 <= rest.low and rest.high < divisor:
            return rest
        if len(rest.terms) == 1 and rest.constant == 0 and rest.terms[0][0] == 1 and \
                rest.terms[0][1].sign == "%" and rest.terms[0][1].divisor % divisor == 0:
            return rest.terms[0][1].inner.modulo(divisor)
        return Sum([(1, remainder(rest, divisor))])

    def __str__(self):
        text = ""
        if self.constant > 0 and self.terms and all(f < 0 for f, _ in self.terms):
            return f"{self.constant}" + "".join(
                f"-{a.text}" if f == -1 else f"-{a.text}*{-f}" for f, a in self.terms)
        for factor, atom in self.terms:
            part = atom.text if abs(factor) == 1 else f"{atom.text}*{abs(factor)}"
            text += ("-" if factor < 0 else "+" if text else "") + part
        if self.constant or not text:
            text += ("+" if text and self.constant > 0 else "") + str(self.constant)
        return text


def grouped(inner):
    """A Sum as the left side of / or %."""
    one = len(inner.terms) == 1 and inner.constant == 0 and inner.terms[0][0] > 0
    return str(inner) if one else f"({inner})"


def quotient(inner, divisor):
    return Atom(f"{grouped(inner)}/{divisor}", inner.low // divisor, inner.high // divisor,
                inner, "/", divisor)


def remainder(inner, divisor):
    return Atom(f"{grouped(inner)}%{divisor}", 0, divisor - 1, inner, "%", divisor)


def index(name, extent):
    """An index of a statement. One of extent 1 is the number 0 wherever it is read."""
    return Sum([(1, Atom(name, 0, extent - 1))])


def number(value):
    return Sum([], value)


def flat(subscripts, shape):
    """The place of an element in row-major order."""
    place = number(0)
    for subscript, size in zip(subscripts, shape):
        place = place.times(size).plus(subscript)
    return place


def unflat(place, shape):
    subscripts, stride = [], 1
    for size in reversed(shape):
        subscripts.append(place.over(stride).modulo(size))
        stride *= size
    return subscripts[::-1]


def reshaped(subscripts, shape, old):
    """The subscripts into shape `old` of an element of the same data seen as `shape`. Dimensions
    are matched in groups of equal products, so that indices stay where they can."""
    found, i, j = [], 0, 0
    while i < len(shape) or j < len(old):
        a, b = i, j
        left = shape[i] if i < len(shape) else 1
        right = old[j] if j < len(old) else 1
        i, j = min(i + 1, len(shape)), min(j + 1, len(old))
        while left != right:
            if left < right:
                left *= shape[i]
                i += 1
            else:
                right *= old[j]
                j += 1
        found += unflat(flat(subscripts[a:i], shape[a:i]), old[b:j])
    return found
