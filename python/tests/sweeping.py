"""Sweeps that several tests run, and what runs them in the process of the test."""

from concurrent.futures import Executor, Future

import tailback

TEXT = 'title = "net"\n[sweep]\n"traffic.hot.load" = [0.1, 0.2]\nseeds = 2\n'
JOBS = f'[[job]]\nname = "a"\n[[job]]\nname = "b"\n{TEXT.split(chr(10), 1)[1]}'


TRAFFIC = """
[[traffic]]
name = "u"
pattern = "uniform"
message = "4 flits"
[run]
warmup = "1 us"
duration = "4 us"
[sweep]
"""


SMALL = f"""
title = "small"
[topology]
kind = "dragonfly"
p = 2
a = 4
h = 2
groups = 9
[routing]
kind = "par"
{TRAFFIC}"traffic.u.load" = {{ from = 0.05, to = 0.5, step = 0.05 }}
"congestion_control.kind" = ["none", "lhrp"]
seeds = 2
"""


class Inline(Executor):
    """Runs what is submitted at once, in this process."""

    def __init__(self):
        self.count = 0

    def submit(self, call, /, *arguments, **keywords):
        self.count += 1
        future = Future()
        future.set_result(call(*arguments, **keywords))
        return future


def run(directory, text=TEXT, **options):
    executor = Inline()
    done = tailback.sweep(tailback.Scenario.loads(text), executor=executor, directory=directory, **options)
    return done, executor.count
