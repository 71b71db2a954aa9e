"""peer-fat-tree: BookSim2's latency on a fat tree of 256 endpoints."""

from __future__ import annotations

from tailback.experiments import peer

_PEER = peer.Peer(
    network="""
[topology]
kind = "fat-tree"
levels = 2
arity = 16

[routing]
kind = "nca"
""",
    flits=32,
    buffer=512,
    latency={
        0.05: 44.6394,
        0.2: 56.7341,
        0.4: 82.9859,
        0.5: 103.952,
        0.6: 134.26,
        0.7: 189.185,
        0.8: 287.215,
        0.9: 626.626,
    },
    saturation=0.885914,
    beyond=(1.0,),
    cycles=(10_000, 40_000),
)

EXPERIMENT = peer.experiment(
    "peer-fat-tree",
    "A fat tree of 256 endpoints beside BookSim2",
    "Uniform traffic of 32-flit packets, endpoints themselves included; nearest common ancestor with a "
    "random way up, input queues of 512 flits without virtual output queues, one virtual channel, links "
    "of 1 cycle.",
    _PEER,
)
