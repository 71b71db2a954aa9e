"""Claims about saturations, of which a search knows two loads that they lie between."""

from __future__ import annotations

import math

from tailback.experiments.model import Claim, unjudged
from tailback.stats import Interval
from tailback.sweeps.found import Saturation

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
    return f"{percent(found)} %{'' if found.sure else f' ({_doubt(found)})'}"


def _doubt(found: Saturation) -> str:
    return "one seed" if _has_one_seed(found) else "not settled by these seeds"


def _has_one_seed(found: Saturation) -> bool:
    """Whether no verdict could be settled, so that they are taken as they are."""
    return all(tried.ratio.values <= 1 for tried in found.tried)


def _ends(found: Saturation) -> tuple[float, float]:
    """The loads between which it lies: where seeds left verdicts open, of those that they settled."""
    if found.sure or _has_one_seed(found):
        return found.accepted_load, found.refused_load
    return found.sure_between


def change(one: Saturation, two: Saturation) -> Interval:
    """How much one saturation is over another, in percent of that; ± all that the brackets leave open."""
    if not (one.is_bracketed and two.is_bracketed):
        return Interval(math.nan, math.nan, 1)
    middle = one.load / two.load
    (low, high), (two_low, two_high) = _ends(one), _ends(two)
    if low == 0 or two_low == 0 or math.isinf(high) or math.isinf(two_high):
        return Interval(100 * (middle - 1), math.nan, 1)
    most, least = high / two_low, low / two_high
    return Interval(middle, max(most - middle, middle - least), 1).shifted(-1).scaled(100)


def is_below(one: Saturation, two: Saturation, by: float = 0.0) -> bool | None:
    """Whether one saturation is below another by so much; None where the brackets leave it open."""
    (low, high), (two_low, two_high) = _ends(one), _ends(two)
    if high + by <= two_low + _ROUNDING:
        return True
    if low + by >= two_high - _ROUNDING:
        return False
    return None


def if_bracketed(claim: Claim, *found: Saturation) -> Claim:
    """The claim; not judged where the middle of a bracket is not known."""
    if all(one.is_bracketed for one in found):
        return claim
    why = f"{claim.measured}: a saturation lies outside of the loads that were searched."
    return unjudged(claim.text, claim.kind, claim.published, why)
