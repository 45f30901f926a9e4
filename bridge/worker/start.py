"""The first text that Python gets, with -c: the others come as one JSON line on the standard input.

    {"worker/serve.py": TEXT, "suite_models/__init__.py": TEXT, ...}

They are imported from memory, so hone needs no folder of Python files beside it.
"""
import ctypes
import importlib.abc
import importlib.util
import json
import os
import signal
import sys


class Texts(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, texts):
        self.texts = texts

    def path_of(self, name):
        path = name.replace(".", "/")
        return next((p for p in (path + ".py", path + "/__init__.py") if p in self.texts), None)

    def find_spec(self, name, path=None, target=None):
        found = self.path_of(name)
        if found is None:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=found.endswith("__init__.py"))

    def exec_module(self, module):
        path = self.path_of(module.__name__)
        exec(compile(self.texts[path], path, "exec"), module.__dict__)


PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)   # nothing stays behind hone
# What a module prints is not an answer.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
lines = os.fdopen(os.dup(0), "r", encoding="utf-8", errors="surrogateescape")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
sys.meta_path.insert(0, Texts(json.loads(lines.readline())))
from worker import serve  # noqa: E402: it is in the texts

serve.serve(lines, answers)
