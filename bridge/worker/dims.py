"""Sizes: a module at smaller sizes, and the numbers of two texts made into dims.

KernelBench's modules name their sizes at the top (batch_size = 128), or write those of images where
they make them. The same module with smaller ones gives the same program with other numbers; where two numbers differ, a dim or an expression of
dims stands for both, and the smaller sizes become the case `small`.
"""
import math
import re

from worker.graph import Translation, text_of
from worker.module import HUGE, Loaded, constants, sample

LEAST = 8               # smaller sizes are left alone, larger ones do not become smaller than this
LEAST_IMAGE = 64        # of images, which networks make 32 times smaller
SHRINKS = (64, 16, 4, 2)
TRIES = 4               # of smaller sizes at which the program has the same operators
IMAGE = re.compile(r"@|^(image|img|height|width|h$|w$)", re.I)
STEPS = re.compile(r"seq|step|time|length", re.I)
KEPT = re.compile(r"kernel|stride|pad|dilation|group|head|factor|num_layers|seed", re.I)
COUNTED = re.compile(r"channel|hidden|embed|feature|classes|expan|reduc|ratio", re.I)
USUAL = {"batch_size": "B", "batch": "B", "in_channels": "C", "out_channels": "K", "channels": "C",
         "height": "H", "width": "W", "depth": "D", "length": "L", "in_features": "I",
         "input_size": "I", "out_features": "O", "output_size": "O", "hidden_size": "Hidden",
         "seq_len": "S", "seq_length": "S", "sequence_length": "S", "num_features": "F",
         "features": "F", "num_classes": "Classes", "dim": "D", "dim1": "D1", "dim2": "D2",
         "embed_dim": "E", "n_embd": "E", "d_model": "E", "hidden_sizes": "Hidden",
         "layer_sizes": "Hidden", "hidden_layer_sizes": "Hidden"}
NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e[-+]?\d+)?)(?![\w.])", re.I)


# ---- smaller ----

def shrunk(sizes, factor, apart, images):
    """Smaller values; `apart`: such that equal ones differ, "all" or "some": those on which nothing
    should hang; `images`: so that those with a name are no smaller than those without."""
    found, used = {}, set()
    for name, value in sizes.items():
        least = LEAST_IMAGE if "@" in name or (images and IMAGE.search(name)) else LEAST
        new = value if value <= least or KEPT.search(name) else max(value // factor, least)
        if apart and "batch" in name.lower() and value > 3:
            new = 3
        elif new != value and (apart == "all" or (apart and not COUNTED.search(name))):
            step = 2 if apart == "all" else 1   # halves and doubles of even sizes are told apart, too
            while new in used and new + step < value:
                new += step
        used.add(new)
        found[name] = new
    return found


def candidates(sizes):
    names = {name: value for name, value in sizes.items() if "@" not in name}
    others = {name: value for name, value in sizes.items() if not STEPS.search(name)}
    found = [sizes | shrunk(among, factor, apart, images)
             for among in (sizes, others, names)    # a layer may hang on the size of its images
             for apart in ("all", "some", None)
             for factor in SHRINKS
             for images in (False, True)]
    found.append({n: min(v, 2) if "batch" in n.lower() else v for n, v in sizes.items()})
    return [one for place, one in enumerate(found) if one != sizes and one not in found[:place]]


def smaller(path, text, seed, train, full, about):
    """(translation, (text, check, case)) of the module at the smallest sizes at which it is the same
    program with other numbers, or at least has the same operators; None: there are none."""
    spare, tries, sizes, task = None, 0, constants(text), full.program.task
    full_text, unrolled = text_of(full, about), False
    for found in candidates(sizes):
        if unrolled and any(found[name] != sizes[name] for name in sizes if STEPS.search(name)):
            continue
        try:
            loaded = Loaded(path, text, found, seed, train, HUGE)
            translation = Translation(loaded, task, full)
            if translation.operators != full.operators:
                # a loop over the steps is written out: with fewer of them it is another program
                unrolled = unrolled or len(translation.operators) < len(full.operators)
                continue
            if loaded.only_shapes:
                translation = Translation(Loaded(path, text, found, seed, train), task, full)
        except Exception:       # whatever does not work at sizes that are ours is no fault of it
            continue
        texts = joined(full_text, text_of(translation, about), sizes, found)
        if texts[0] == texts[1]:
            return translation, texts
        # a size that became 1 is not written: images that are larger may keep it
        spare, tries = spare or (translation, texts), tries + 1
        if tries == TRIES:
            break
    return spare


def samples(path, text, seed):
    """Inputs at the largest sizes at which they are not large: what they hold is as in large ones."""
    for most in (1024, 256, 64, 16):
        found = sample(path, text, {name: value if COUNTED.search(name) else min(value, most)
                                    for name, value in constants(text).items()}, seed)
        if found is not None:
            return found
    return None


# ---- dims ----

def dim_name(constant, taken):
    constant = re.split("[@#]", constant)[0]
    usual = USUAL.get(constant.lower())
    if usual is None:
        words = constant.split("_")
        usual = constant.upper() if len(constant) <= 2 else "".join(w[:1].upper() for w in words if w)
    name = usual if usual[:1].isalpha() else "D"
    count = 1
    while name in taken:
        count += 1
        name = f"{usual}{count}"
    return name


def expression(pair, dims):
    """Text over dims that is pair[0] at the full sizes and pair[1] at the small ones, or None."""
    for name, (a, b) in dims.items():
        if (a, b) == pair:
            return name
    found = []      # the simplest is the likeliest: 4*E rather than 6*S
    for name, (a, b) in dims.items():
        if pair[0] - a == pair[1] - b and abs(pair[0] - a) <= 64:
            found.append((0, f"({name}{pair[0] - a:+d})"))
        if a and pair[0] % a == 0 and pair[0] // a * b == pair[1]:
            found.append((pair[0] // a, f"({pair[0] // a}*{name})"))
        if pair[0] and a % pair[0] == 0 and b % (a // pair[0]) == 0 and b // (a // pair[0]) == pair[1]:
            found.append((a // pair[0], f"({name}/{a // pair[0]})"))
    if found:
        return min(found)[1]
    for one, (a, b) in dims.items():
        for other, (c, d) in dims.items():
            if (a * c, b * d) == pair:
                return f"({one}*{other})"
            if (a * c - 1, b * d - 1) == pair:
                return f"({one}*{other}-1)"
    return None


def joined(full, small, sizes, small_sizes):
    """(text, check, case): one text with dims and a case, or the two as they are."""
    apart, again = NUMBER.split(full), NUMBER.split(small)
    if len(apart) != len(again) or apart[::2] != again[::2]:
        return full, small, "default"
    pairs = list(dict.fromkeys((a, b) for a, b in zip(apart[1::2], again[1::2]) if a != b))
    if not pairs:
        return full, full, "default"
    roots = {pair: roots_of(pair) for pair in pairs if not all(n.isdigit() for n in pair)}
    if None in roots.values():
        return full, small, "default"
    taken = set(re.findall(r"[A-Za-z_]\w*", full))
    dims, texts = {}, {}
    wanted = [roots.get(pair) or (int(pair[0]), int(pair[1])) for pair in pairs]
    for constant, value in sizes.items():
        pair = value, small_sizes[constant]
        if pair in wanted and pair not in dims.values():
            name = dim_name(constant, taken)
            taken.add(name)
            dims[name] = pair
    for written, pair in zip(pairs, wanted):
        found = expression(pair, dims)
        if found is None:
            found = dim_name("size", taken)
            taken.add(found)
            dims[found] = pair
        texts[written] = f"(1/sqrt(f32({found})))" if written in roots else found
    for position in range(1, len(apart), 2):
        key = apart[position], again[position]
        apart[position] = texts.get(key, apart[position])
    text = with_dims(tidied("".join(apart)), dims)
    return text, text, "small"


def roots_of(pair):
    """(n, m) if the two numbers are 1/sqrt(n) and 1/sqrt(m), as scales of attention are; else None."""
    found = tuple(round(1 / float(n) ** 2) if float(n) > 0 else 0 for n in pair)
    close = all(n > 0 and abs(float(text) * math.sqrt(n) - 1) < 1e-12 for text, n in zip(pair, found))
    return found if close and found[0] != found[1] else None


def tidied(text):
    """Parentheses that commas and brackets make needless; no quotient of integers in a scale."""
    text = re.sub(r"2\.0/\((\w+)/(\d+)\)", r"2.0*\2/\1", text)
    return re.sub(r"(?<=[\[,:=])\(([^()]*)\)(?=[,\])])", r"\1", text)


def with_dims(text, dims):
    head, name, rest = re.match(r"(#.*\n)(op \w+\n)(.*)", text, re.S).groups()
    declared = ", ".join(f"{n}={a}" for n, (a, _) in dims.items())
    case = " ".join(f"{n}={b}" for n, (_, b) in dims.items())
    return f"{head}{name}dim {declared}\n{rest}case small {case} check\n"
