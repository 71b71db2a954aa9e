"""Explicit rates for phases of flows, after docs/protocols/saa.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reference_crossbar import Crossbar
from reference_flows import FlowCrossbar, FlowSwitch, FlowUnlimited
from reference_nodes import Endpoint
from reference_rates import Explicit, RatedFlow, RatedSource
from reference_switches import Switch


@dataclass(frozen=True)
class Saa(Explicit):
    """Its parameters."""

    def keys(self) -> dict[str, object]:
        return {"kind": "saa"} | super().keys()

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return SaaSource, SaaCrossbar if kind is Crossbar else SaaUnlimited


class SaaSource(RatedSource):
    """Knows the load of the busiest link on the way of each flow, and that of its own channel."""

    def requests(self, flow: RatedFlow) -> int:
        return 0

    def load(self, flow: RatedFlow) -> int:
        flows = [queue.flows[0] for queue in self.order if queue.flows]
        own = sum(flow.flits for flow in flows if flow.state != "new")
        return max(flow.time, self.case.span(own, self.out[0].flit) // self.tick)

    def learn(self, flow: RatedFlow, told: Any) -> int:
        flow.known = told
        return int(told)

    def lasts(self, news: bool) -> bool:
        return not news


class SaaSwitch(FlowSwitch):
    """Tells what asks the time that its links need for their flows, in ticks."""

    def account(self, packet: Any) -> None:
        super().account(packet)
        if packet.what in ("set-up", "probe") or getattr(packet, "asks", False):
            channel = self.out[packet.out]
            load = self.case.span(self.flits[packet.out], channel.pace) // self.case.tick
            packet.told = max(packet.told, load)


class SaaCrossbar(SaaSwitch, FlowCrossbar):
    """With a crossbar."""


class SaaUnlimited(SaaSwitch, FlowUnlimited):
    """Without one."""
