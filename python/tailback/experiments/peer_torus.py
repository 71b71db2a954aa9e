"""peer-torus: BookSim2's latency on a 16 x 16 torus under dimension order."""

from __future__ import annotations

from tailback.experiments import peer

_PEER = peer.Peer(
    network="""
[topology]
kind = "torus"
dims = [16, 16]

[routing]
kind = "dor"
""",
    flits=1,
    buffer=32,
    latency={0.05: 29.1821, 0.1: 29.4571, 0.2: 30.2246, 0.3: 31.9146, 0.4: 37.073, 0.45: 47.6492},
    saturation=0.449317,
    beyond=(0.5,),
    cycles=(2_000, 4_000),
)

EXPERIMENT = peer.experiment(
    "peer-torus",
    "A 16 x 16 torus beside BookSim2",
    "Uniform traffic of 1-flit packets, endpoints themselves included; dimension order with a date line, "
    "input queues without virtual output queues, links of 1 cycle. BookSim2: 8 virtual channels of 8 "
    "flits; here 2 of 32.",
    _PEER,
)
