#!/usr/bin/env python3
"""The tasks of suites/ against PyTorch.

    python3 bridge/check_suites.py [-v] [--values DIR] [SUITE | SUITE/NUMBER | FILE.op ...]

Each task's case `small` is evaluated by `hone task --eval` on inputs drawn here, and by a PyTorch
model of the same operator (bridge/suite_models/) on the same inputs in double precision. The two
must agree to within 1e-9 of the output's size: both compute in double, so only the order of sums
differs. Outputs of integers must be equal. Needs torch 2.13 and numpy, and hone built
(HONE=PROGRAM, default build/release/hone); without torch it says so and ends with 0.

With --values hone is not asked: DIR has the inputs and outputs of every task already, as
tests/unit/suite_torch.c writes them, TASK/in/NAME.npy and TASK/out/00_NAME.npy.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITES = ROOT / "suites"
HONE = os.environ.get("HONE", str(ROOT / "build" / "release" / "hone"))
CASE = "small"
AGREEMENT = 1e-9

try:
    import numpy as np
    import torch

    from suite_models import MODELS
    from worker.suite import Inputs
except ModuleNotFoundError as missing:
    print(f"skipped: {missing.name} is not installed; this check needs torch 2.13 and numpy")
    sys.exit(0)


# ---- a task: its inputs' shapes come from hone, their clauses from the text ----

def describe(path):
    run = subprocess.run([HONE, "task", str(path), "--json"], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip())
    return json.loads(run.stdout)


def task_text(path):
    """The last operator of the file, without comments, one statement a line."""
    text = re.sub(r"#.*", "", path.read_text())
    text = re.split(r"^op ", text, flags=re.M)[-1]
    return re.sub(r"(\S) +in (?=\w+[:,])", r"\1\nin ", text)


def number(expression, names):
    functions = {"sqrt": math.sqrt, "f32": float, "min": min, "max": max, "exp": math.exp}
    return eval(expression, {"__builtins__": {}}, {**functions, **names})


def known_names(text, dims):
    names = dict(dims)
    for line in re.findall(r"^const (.*)", text, re.M):
        for name, value in re.findall(r"(\w+) *= *((?:[^,()]|\([^()]*\))+)", line):
            names[name] = number(value.replace("/", "//"), names)
    return names


def clauses(path, dims):
    text = task_text(path)
    names = known_names(text, dims)
    found = {}
    for line in re.findall(r"^in (.*)", text, re.M):
        tensors, clause = re.match(r"([^:]*): *\w+ *\[[^\]]*\] *(.*)", line).groups()
        for name in tensors.split(","):
            found[name.strip()] = clause.strip()
    return found, names


# ---- drawing ----

WHOLE = {"i32": (-100, 100), "i8": (-128, 127), "u8": (0, 255), "bool": (0, 1)}
STORED = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<f4", "i32": "<i4", "i8": "|i1",
          "u8": "|u1", "bool": "|b1"}


def formed(word, values):
    if word == "softmax":
        values = np.exp(values)
        return values / values.sum(-1, keepdims=True)
    if word == "symmetric":
        return np.tril(values) + np.swapaxes(np.tril(values, -1), -1, -2)
    return np.tril(values) if word == "lower" else np.triu(values)


def drawn(rng, dtype, shape, clause, names):
    word, _, rest = clause.partition(" ")
    if word == "from":
        low, high = (number(e, names) for e in rest.split(" to "))
        if dtype in WHOLE:
            return rng.integers(low, high + 1, shape)
        return rng.uniform(low + 1e-3 * (high - low), high - 1e-3 * (high - low), shape)
    if word == "among":
        return rng.choice([number(e, names) for e in rest.split(",")], shape)
    if dtype in WHOLE:
        return rng.integers(*WHOLE[dtype], shape, endpoint=True)
    values = rng.standard_normal(shape)
    if word == "as":
        return formed(rest, values)
    return values * number(rest, names) if word == "scale" else values


def rounded(values, dtype):
    """As stored: what both sides then read exactly. NumPy has no bf16, hone rounds f32 files to it."""
    if dtype == "bf16":
        values = torch.from_numpy(np.asarray(values, np.float32)).bfloat16().float().numpy()
    return np.asarray(values).astype(STORED[dtype])


def widened(array):
    if array.dtype.kind == "f":
        return torch.from_numpy(np.array(array, np.float64))
    if array.dtype.kind == "b":
        return torch.from_numpy(np.array(array))
    return torch.from_numpy(np.array(array, np.int64))


# ---- comparing ----

def evaluated(path, arrays, outputs):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        run = subprocess.run([HONE, "task", str(path), "--eval", "--case", CASE, "--inputs", str(folder),
                              "-q", "-o", str(folder / "out")], capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr.strip())
        return [np.load(folder / "out" / f"{name}.npy") for name in outputs]


def as_arrays(result):
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [r.detach().numpy() if isinstance(r, torch.Tensor) else np.asarray(r) for r in results]


def distance(name, ours, theirs):
    """The largest difference as a part of the output's size."""
    if ours.shape != theirs.shape:
        raise RuntimeError(f"{name} is {ours.shape}, PyTorch's {theirs.shape}")
    if not np.isfinite(theirs.astype(np.float64)).all():
        raise RuntimeError(f"{name}: PyTorch's result is not finite")
    size = np.abs(theirs).max()
    return float(np.abs(ours - theirs).max() / (size if size > 0 else 1))


def asked(path, key):
    """Inputs that are drawn here, and what hone gives for them."""
    task = describe(path)
    small = next((c for c in task["cases"] if c["name"] == CASE), None)
    if small is None:
        raise RuntimeError("no case small")
    clause_of, names = clauses(path, small["dims"])
    rng = np.random.default_rng(zlib.crc32(key.encode()))
    arrays = {i["name"]: rounded(drawn(rng, i["dtype"], i["shape"], clause_of[i["name"]], names),
                                 i["dtype"]) for i in small["inputs"]}
    outputs = [o["name"] for o in small["outputs"]]
    return arrays, dict(zip(outputs, evaluated(path, arrays, outputs)))


def written(folder):
    """The same, where both have been written."""
    arrays = {file.stem: np.load(file) for file in (folder / "in").glob("*.npy")}
    outputs = {file.stem[3:]: np.load(file) for file in sorted((folder / "out").glob("*.npy"))}
    if not outputs:
        raise RuntimeError(f"no values in {folder}")
    return arrays, outputs


def check(path, values):
    key = path.relative_to(SUITES).with_suffix("").as_posix()
    if key not in MODELS:
        raise RuntimeError("no model in bridge/suite_models")
    arrays, ours = written(Path(values) / key) if values else asked(path, key)
    theirs = as_arrays(MODELS[key](Inputs({n: widened(a) for n, a in arrays.items()})))
    if len(ours) != len(theirs):
        raise RuntimeError(f"{len(ours)} outputs, PyTorch has {len(theirs)}")
    return max(distance(name, a, b) for (name, a), b in zip(ours.items(), theirs))


# ---- the tasks asked for ----

def tasks(arguments):
    every = sorted(SUITES.rglob("*.op"))
    if not arguments:
        return every
    found = []
    for argument in arguments:
        wanted = argument.removeprefix("suites/").removesuffix(".op").rstrip("/")
        named = [p for p in every if f"{p.relative_to(SUITES).with_suffix('').as_posix()}/"
                 .startswith(wanted + "/")]
        folder, _, prefix = wanted.rpartition("/")
        if not named and prefix.isdigit():
            named = [p for p in every if p.parent == SUITES / folder and
                     p.name.startswith(f"{int(prefix):03}_")]
        if not named:
            sys.exit(f"{argument}: no such task; write SUITE, SUITE/NUMBER or a file")
        found += named
    return found


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    parser = argparse.ArgumentParser(description="The tasks of suites/ against PyTorch.")
    parser.add_argument("-v", action="store_true", help="say of each task how far it is off")
    parser.add_argument("--values", metavar="DIR", help="inputs and outputs that are there already")
    parser.add_argument("tasks", nargs="*", metavar="SUITE | SUITE/NUMBER | FILE.op")
    given = parser.parse_args()
    agree, failed = {}, 0
    for path in tasks(given.tasks):
        suite = path.parent.relative_to(SUITES).as_posix()
        counts = agree.setdefault(suite, [0, 0])
        counts[1] += 1
        try:
            far = check(path, given.values)
        except (RuntimeError, KeyError, IndexError, TypeError, ValueError, SyntaxError) as error:
            print(f"{path.relative_to(ROOT)}: {type(error).__name__}: {error}")
            failed += 1
            continue
        if far > AGREEMENT:
            print(f"{path.relative_to(ROOT)}: differs by {far:.2g} of its size")
            failed += 1
            continue
        counts[0] += 1
        if given.v:
            print(f"{path.relative_to(ROOT)}: {far:.1g}")
    for suite, (right, count) in agree.items():
        print(f"{suite}: {right} of {count} agree with PyTorch {torch.__version__}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
