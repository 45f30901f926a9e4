"""PyTorch's builds of a model, and how long they take."""
import math
import os
import tempfile
import time

import torch

SAMPLE_SECONDS = 0.001      # shorter calls are timed several in a row
WARM_SECONDS = 0.02         # shorter ones are called once untimed before a window
WARM_CALLS = 3


def eager(model, inputs):
    return model


def compiled(model, inputs):
    return torch.compile(model, dynamic=False)


def frozen(model, inputs):
    return torch.compile(model, dynamic=False, options={"freezing": True, "max_autotune": True})


def ahead(model, inputs):
    program = torch.export.export(model, tuple(inputs))
    with tempfile.TemporaryDirectory() as folder:
        package = torch._inductor.aoti_compile_and_package(
            program, package_path=os.path.join(folder, "model.pt2"))
        return torch._inductor.aoti_load_package(package)


BUILDS = {"eager": eager, "compile": compiled, "freeze": frozen, "aot": ahead, "as shipped": eager}


class Build:
    """One build of a model, ready to be timed."""

    def __init__(self, name, model, inputs):
        function = BUILDS[name](model, inputs)
        self.run = lambda: function(*inputs)
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
            while not found or (len(found) < most and
                                time.perf_counter() + calls * self.seconds < end):
                self.seconds = self.timed(calls)
                found.append(1e6 * self.seconds)
        return found
