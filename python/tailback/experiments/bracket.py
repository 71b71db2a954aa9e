"""Claims about saturations, of which a search knows two loads that they lie between."""

from __future__ import annotations

import math

from tailback.experiments.model import Claim, unjudged
from tailback.saturation import Saturation
from tailback.stats import Interval

_ROUNDING = 1e-9


def percent(found: Saturation) -> Interval:
    """The middle of the bracket and half its width, in percent of the injection bandwidth."""
    return Interval(found.load, found.half, found.runs).scaled(100)


def told(found: Saturation) -> str:
    """The same in words."""
    if math.isinf(found.refused_load) and found.accepted_load == 0:
        return "not searched"
    if math.isinf(found.refused_load):
        return f"at least {100 * found.accepted_load:.4g} %"
    if found.accepted_load == 0:
        return f"under {100 * found.refused_load:.4g} %"
    return f"{percent(found)} %"


def change(one: Saturation, two: Saturation) -> Interval:
    """How much one saturation is over another, in percent of that; ± all that the brackets leave open."""
    if not (one.is_bracketed and two.is_bracketed):
        return Interval(math.nan, math.nan, 1)
    middle = one.load / two.load
    most, least = one.refused_load / two.accepted_load, one.accepted_load / two.refused_load
    return Interval(middle, max(most - middle, middle - least), 1).shifted(-1).scaled(100)


def is_below(one: Saturation, two: Saturation, by: float = 0.0) -> bool | None:
    """Whether one saturation is below another by so much; None where the brackets leave it open."""
    if one.refused_load + by <= two.accepted_load + _ROUNDING:
        return True
    if one.accepted_load + by >= two.refused_load - _ROUNDING:
        return False
    return None


def if_bracketed(claim: Claim, *found: Saturation) -> Claim:
    """The claim; not judged where the middle of a bracket is not known."""
    if all(one.is_bracketed for one in found):
        return claim
    why = f"{claim.measured}: a saturation lies outside of the loads that were searched."
    return unjudged(claim.text, claim.kind, claim.published, why)
