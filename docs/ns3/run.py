"""Runs ns-3 on the flows of peer-ns3-hpcc, -dcqcn and -pfc, and prints what these keep of it.

.venv/bin/python docs/ns3/run.py /tmp/ns3/third
.venv/bin/python docs/ns3/run.py /tmp/ns3/third --only PINT "16 to 1 in a pod" --key "PINT_LOG_BASE 1.001"
"""

import argparse
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tailback.experiments import ns3, peer_ns3_dcqcn, peer_ns3_hpcc, peer_ns3_pfc

CONFIG = """
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE {payload}
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
TRACE_FILE trace.txt
TRACE_OUTPUT_FILE trace.tr
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
QLEN_MON_FILE qlen.txt
QLEN_MON_START 2000000000
QLEN_MON_END 2000000001
SIMULATOR_STOP_TIME 3
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
MIN_RATE 100Mb/s
ERROR_RATE_PER_LINK 0
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
GLOBAL_T 1
FAST_REACT 1
U_TARGET 0.95
INT_MULTI 1
MULTI_RATE 0
SAMPLE_FEEDBACK 0
RATE_BOUND 1
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0
ENABLE_TRACE 0
KMIN_MAP 1 100000000000 400
KMAX_MAP 1 100000000000 1600
PMAX_MAP 1 100000000000 0.2
BUFFER_SIZE 320
{control}
"""
"""The keys of its own configuration, with buffers in which nobody is ever paused.

Of two lines with a key the later one counts.
"""


@dataclass(frozen=True)
class Flows:
    """Packets of a flow, their bytes without headers, and how long an acknowledgement takes on a channel."""

    packets: int
    payload: int
    ack_ns: int
    control: str
    """Further lines of the configuration."""
    pauses: bool = False
    """Whether switches may pause their neighbours."""


def measured(
    told: argparse.Namespace, folder: Path, name: str, of: Flows, draw: int
) -> tuple[list[float], tuple[float, int]]:
    """When the flows of a pattern have arrived, in us after their starts, and how ports were paused."""
    control = "\n".join([of.control, *told.key])
    flows = ns3.flows(name, of.packets, draw)
    files = {
        "topology.txt": ns3.network(name),
        "flow.txt": ns3.listed(flows, of.payload),
        "trace.txt": "0",
        "config.txt": CONFIG.format(payload=of.payload, control=control),
    }
    for file, text in files.items():
        (folder / file).write_text(text + "\n")
    chance = {**os.environ, "NS_GLOBAL_VALUE": f"RngRun={told.rng or draw}"}
    run = subprocess.run([told.binary, "config.txt"], cwd=folder, env=chance, capture_output=True, text=True)
    rows = [line.split() for line in (folder / "fct.txt").read_text().splitlines()]
    orders = (folder / "pfc.txt").read_text().splitlines()
    if "Drop" in run.stdout or bool(orders) > of.pauses or len(rows) != len(flows):
        raise SystemExit(f"{name}, draw {draw}: a packet was dropped, a link paused, or a flow did not end")
    # It tells of the last acknowledgement, which meets nothing on its way back, or little for so long a flow.
    arrived = []
    for *addresses, _, _, _, _, took, _ in rows:
        source, destination = (int(address, 16) >> 8 & 0xFFFF for address in addresses)
        if ns3.PATTERNS[name].to in (None, destination):
            way_back = ns3.links(name, source, destination) * (1000 + of.ack_ns)
            arrived.append((int(took) - way_back) / 1000)
    return arrived, paused(orders)


def paused(orders: list[str]) -> tuple[float, int]:
    """For how long ports were paused in all, in us, and how often, by orders as they were heard."""
    begun: dict[tuple[int, int], int] = {}
    ns = count = 0
    for order in orders:
        at, node, _, port, stops = map(int, order.split())
        if stops:
            begun.setdefault((node, port), at)
        elif (node, port) in begun:
            ns += at - begun.pop((node, port))
            count += 1
    if begun:
        raise SystemExit("some ports were paused to the end")
    return ns / 1000, count


def kept(told: argparse.Namespace, what: str, of: Flows) -> None:
    """Prints what is kept of the patterns."""
    only, pattern = told.only or (what, None)
    if only != what:
        return
    print(what)
    patterns = peer_ns3_pfc.PATTERNS if of.pauses else ns3.PATTERNS
    with tempfile.TemporaryDirectory() as folder:
        for name in patterns if pattern is None else [pattern]:
            draws = range(1, ns3.DRAWS + 1)
            runs = [measured(told, Path(folder), name, of, draw) for draw in draws]
            all_ends = [ends for ends, _ in runs]
            mean, last = np.mean([np.mean(one) for one in all_ends]), np.mean([max(one) for one in all_ends])
            places = np.arange(11) / 10
            tenths = np.quantile(np.concatenate(all_ends), places, method="inverted_cdf").round(1)
            to = "" if ns3.PATTERNS[name].to is None else f", to={ns3.PATTERNS[name].to}"
            if of.pauses:
                time, count = np.mean([paused for _, paused in runs], axis=0)
                to = f", paused={time:.1f}, pauses={count:.1f}"
            kind = "Paused" if of.pauses else "Ends"
            print(f'"{name}": {kind}({mean:.1f}, {last:.1f}, {tuple(map(float, tenths))}{to}),', flush=True)


def arguments() -> argparse.Namespace:
    """What the command says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", help="what the Makefile beside this file has built")
    names = [*peer_ns3_hpcc.VARIANTS, "DCQCN", "PFC"]
    parser.add_argument(
        "--only", nargs=2, metavar=("WHAT", "PATTERN"), help=f"of {', '.join(names)}, one pattern"
    )
    parser.add_argument("--key", action="append", default=[], help="a further line of its configuration")
    parser.add_argument("--rng", type=int, help="the same random numbers in all runs")
    return parser.parse_args()


if __name__ == "__main__":
    command = arguments()
    for variant, (stage, telemetry) in peer_ns3_hpcc.VARIANTS.items():
        mode, payload = (3, 4014) if telemetry == "int" else (10, 4055)
        hpcc = f"CC_MODE {mode}\nHAS_WIN 1\nVAR_WIN 1\nMI_THRESH {stage}\nRATE_AI 172Mb/s\nRATE_HAI 172Mb/s"
        kept(command, variant, Flows(peer_ns3_hpcc.PACKETS, payload, 7, hpcc))
    dcqcn = "CC_MODE 1\nHAS_WIN 0\nVAR_WIN 0\nMI_THRESH 0\nRATE_AI 20Mb/s\nRATE_HAI 200Mb/s"
    kept(command, "DCQCN", Flows(peer_ns3_dcqcn.PACKETS, 4056, 4, dcqcn))
    # Sources that are never told of a mark send at the rate of their channels.
    none = "KMIN_MAP 1 100000000000 1000000\nKMAX_MAP 1 100000000000 1000001\nBUFFER_SIZE 2"
    kept(command, "PFC", Flows(peer_ns3_pfc.PACKETS, 456, 4, f"{dcqcn}\n{none}", pauses=True))
