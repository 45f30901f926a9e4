"""One question a line, one answer a line, both JSON objects (src/bridge/process.c).

    {"do": "hello", "threads": 2, "ahead": true}          {"torch": "2.13.0+cpu"}
    {"do": "load", "id": 1, "path", "text", "sizes", "train", "shapes"}  {}
    {"do": "task", "id": 1, "task", "key", "tensors", "bytes"}   {}
    {"do": "build", "id": 1, "build": "eager"}            {}
    {"do": "window", "id": 1, "build", "seconds", "most"} {"us": [...]}
    {"do": "unload", "id": 1}                             {}
    {"do": "translate", "path", "text", "mode", "seed"}   see worker/translate.py

What goes wrong is {"error": "what; what to write instead", "line": 7}.
"""
import json

import torch

from worker import measure, share, suite
from worker.module import Loaded, plain_text
from worker.refusal import Refusal, first_line


class Worker:
    def __init__(self):
        self.models = {}    # by id: (model, inputs)
        self.builds = {}    # by id and build
        self.workshop = {}  # by id: who compiles it ahead of time

    def hello(self, threads, ahead):
        self.ahead = ahead
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        return {"torch": torch.__version__}

    def load(self, id, path, text, sizes, train, shapes=None):
        loaded = Loaded(path, plain_text(text), sizes, train=train)
        if shapes is not None:
            loaded.compare(shapes)
        loaded.run()
        self.models[id] = loaded.model, loaded.inputs
        return {}

    def task(self, id, task, key, tensors, bytes):
        def load():
            memory = share.mapped(bytes)
            found = [(t["name"], share.taken(t, memory), t["weight"]) for t in tensors]
            return suite.load(task, found)

        if self.ahead and not self.models:
            self.workshop[id] = measure.Workshop(load, key)
        self.models[id] = load()
        return {}

    def build(self, id, build):
        if (id, build) not in self.builds:
            make = self.workshop.pop(id, None) if build == "aot" else None
            self.builds[id, build] = measure.Build(build, *self.models[id], make)
        return {}

    def window(self, id, build, seconds, most):
        return {"us": self.builds[id, build].window(seconds, most)}

    def translate(self, path, text, mode, seed):
        from worker import translate    # the rules are many: only when they are asked for

        return translate.translate(path, plain_text(text), mode, seed)

    def unload(self, id):
        self.models.pop(id, None)
        self.builds = {key: build for key, build in self.builds.items() if key[0] != id}
        return {}


def answer(worker, question):
    try:
        return getattr(worker, question.pop("do"))(**question)
    except Refusal as refusal:
        return {"error": str(refusal), "line": refusal.line}
    except BaseException as error:      # a build that does not work here
        return {"error": first_line(error), "line": None}


def serve(lines, answers):
    worker = Worker()
    for line in lines:
        answers.write(json.dumps(answer(worker, json.loads(line))) + "\n")
        answers.flush()
