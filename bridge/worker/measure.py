"""PyTorch's builds of a model, and how long they take."""
import collections
import contextlib
import itertools
import math
import os
import tempfile
import time

import torch

from worker.refusal import first_line

SAMPLE_SECONDS = 0.001      # shorter calls are timed several in a row
WARM_SECONDS = 0.02         # shorter ones are called once untimed before a window
WARM_CALLS = 3
BRIEF_SECONDS = 0.2         # windows of longer calls do not keep everybody else waiting
MOST_BYTES = 1 << 30        # of copies of the inputs
KEPT_BYTES = 8 << 30        # of packages that were made ahead of time


def schedule(threads, policy, priority):
    with contextlib.suppress(OSError):      # a thread that has ended, a user who may not
        for thread in threads:
            os.sched_setscheduler(thread, policy, os.sched_param(priority))


@contextlib.contextmanager
def precedence(wanted):
    """Before all other processes: where the judge's kernels are timed so, so is what they race."""
    wanted = wanted and "HONE_PRECEDENCE" in os.environ
    threads = [int(name) for name in os.listdir("/proc/self/task")] if wanted else []
    schedule(threads, os.SCHED_FIFO, 1)
    try:
        yield
    finally:
        schedule(threads, os.SCHED_OTHER, 0)


kept = {}


def copies(inputs):
    """The inputs several times over, for the builds of one model. The judge's calls are each on
    memory of their own; calls on the same would find it in the nearest cache."""
    if kept.get("of") is not inputs:
        wanted = int(os.environ.get("HONE_SETS", "1"))
        size = sum(t.numel() * t.element_size() for t in inputs if isinstance(t, torch.Tensor))
        count = max(1, min(wanted, MOST_BYTES // max(size, 1)))
        kept.update(of=inputs, sets=[    # none where it was shared: all from torch's own allocator
            [t.clone() if isinstance(t, torch.Tensor) else t for t in inputs]
            for _ in range(count)])
    return kept["sets"]


def eager(model, inputs):
    return model


def compiled(model, inputs):
    return torch.compile(model, dynamic=False)


def frozen(model, inputs):
    return torch.compile(model, dynamic=False, options={"freezing": True, "max_autotune": True})


def package(model, inputs, path):
    torch._inductor.aoti_compile_and_package(torch.export.export(model, tuple(inputs)),
                                             package_path=path)


def ahead(model, inputs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt2")
        package(model, inputs, path)
        return torch._inductor.aoti_load_package(path)


class Workshop:
    """A package that a process of its own makes ahead of time, while this one makes other builds.
    It is forked before the first tensor: a team of threads does not survive a fork. Packages are
    kept: networks take minutes."""

    def __init__(self, load, key):
        folder = os.environ.get("HONE_PACKAGES")
        self.temporary = None if folder else tempfile.TemporaryDirectory()
        self.folder = folder or self.temporary.name
        os.makedirs(self.folder, exist_ok=True)
        self.path = os.path.join(self.folder, f"{key}-{torch.__version__}.pt2")
        self.child = None
        if os.path.exists(self.path):
            os.utime(self.path)
            return
        self.child = os.fork()
        if self.child == 0:
            os._exit(self.work(load))

    def made(self):
        return f"{self.path}.{self.child or os.getpid()}.pt2"

    def work(self, load):
        try:
            package(*load(), self.made())
            return 0
        except BaseException as error:
            with open(self.made(), "w", encoding="utf-8") as file:
                file.write(first_line(error))
            return 1

    def __call__(self, model, inputs):
        if self.child is not None:
            _, how = os.waitpid(self.child, 0)
            self.take(how)
        found = torch._inductor.aoti_load_package(self.path)
        if self.temporary:
            self.temporary.cleanup()
        else:
            drop_oldest(self.folder)
        return found

    def take(self, how):
        why = "the process that compiles ahead of time has ended"
        with contextlib.suppress(OSError):
            if how == 0:
                os.replace(self.made(), self.path)
                return
            with open(self.made(), encoding="utf-8") as file:
                why = file.read()
            os.unlink(self.made())
        raise RuntimeError(why)


def drop_oldest(folder):
    """No more is kept than KEPT_BYTES, what was used last."""
    with contextlib.suppress(OSError):      # another process may be at it
        files = sorted(os.scandir(folder), key=lambda file: -file.stat().st_mtime)
        sizes = itertools.accumulate(file.stat().st_size for file in files)
        for file, size in zip(files, sizes):
            if size > KEPT_BYTES:
                os.unlink(file)


BUILDS = {"eager": eager, "compile": compiled, "freeze": frozen, "aot": ahead, "as shipped": eager}


class Build:
    """One build of a model, ready to be timed."""

    def __init__(self, name, model, inputs, make=None):
        function = (make or BUILDS[name])(model, inputs)
        sets = copies(inputs)
        turns = itertools.cycle(sets)
        results = collections.deque(maxlen=len(sets))   # so that they too lie in turns
        self.run = lambda: results.append(function(*next(turns)))
        with torch.no_grad():
            for _ in range(WARM_CALLS):
                self.seconds = self.timed(1)

    def timed(self, calls):
        run = self.run
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) / calls

    def window(self, seconds, most):
        """Times of single calls in microseconds."""
        end = time.perf_counter() + seconds
        found = []
        with torch.no_grad():
            if self.seconds < WARM_SECONDS:
                self.seconds = min(self.seconds, self.timed(1))
            calls = math.ceil(SAMPLE_SECONDS / max(self.seconds, 1e-9))
            with precedence(calls * self.seconds < BRIEF_SECONDS):
                while not found or (len(found) < most and
                                    time.perf_counter() + calls * self.seconds < end):
                    self.seconds = self.timed(calls)
                    found.append(1e6 * self.seconds)
        return found
