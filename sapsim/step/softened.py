"""Contacts that the near-rigid limit makes softer than their materials, by pair of materials: how soft, and what would help.

Every step counts them on the device, in a histogram of stiffnesses as realised with four bins to an octave, and keeps the least
one.  The host looks at it when a run has ended.  A law without the limit has no histogram (kinds.base.ContactLaw.softens).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from sapsim.kinds.base import registry
from sapsim.model.arrays import Arrays
from sapsim.model.build import BINS, Model

ARRAYS = ("softened_count", "softened_least")
PER_OCTAVE = 4
LOWEST = -16  # power of two at which the first bin begins [N/m]; the last one ends at 2^48


def make_count(R, struct, law_name: str):
    """wp.func count(s, w, c): counts contact c, which is softened.

    A struct that is passed here has contact_row, contact_a, contact_b, shape_surface, surface_pair, the arrays of ARRAYS, and
    the scalars nsurface and h.
    """
    real = R.t
    stiffness = registry("contacts")[law_name].make(R).stiffness

    @wp.func
    def count(s: struct, w: int, c: int):
        k = real(stiffness(s.contact_row[w, c], s.h))
        first = s.shape_surface[s.contact_a[w, c]]
        pair = s.surface_pair[first * s.nsurface + s.shape_surface[s.contact_b[w, c]]]
        octave = wp.log2(k) - real(LOWEST)
        at = BINS * pair + wp.clamp(int(wp.floor(real(PER_OCTAVE) * octave)), 0, BINS - 1)
        s.softened_count[w, at] = s.softened_count[w, at] + wp.int64(1)
        least = s.softened_least[w, pair]
        if least == real(0.0) or k < least:
            s.softened_least[w, pair] = k

    return count


@dataclass(frozen=True)
class Softened:
    """One pair of materials with contacts that were softened.

    Fields:
        names: of the two materials, "" for the default one.
        stiffness: [N/m] that the materials ask for.
        least, median: [N/m] as realised, over all softened contacts of all steps and worlds; the median to a tenth.
        count: how many these were.
        time_step: [s], the largest at which the limit would not have acted on the softest of them.
        near_rigid: the largest value of `contact.near_rigid` for which the same is true at the time step of the run.
    """

    names: tuple[str, str]
    stiffness: float
    least: float
    median: float
    count: int
    time_step: float
    near_rigid: float


def read(arrays: Arrays, model: Model, scene: Any) -> list[Softened]:
    """The pairs with softened contacts, in the order of model.material_pairs."""
    if model.sizes["nsoftened"] == 0:
        return []
    n = len(model.material_pairs)
    counts = arrays["softened_count"].numpy().sum(axis=0).reshape(n, BINS)
    least = arrays["softened_least"].numpy().astype(float)
    least = np.where(least > 0.0, least, np.inf).min(axis=0)
    found = []
    for pair, count, softest in zip(model.material_pairs, counts, least, strict=True):
        if count.any():
            h, tau, ratio = scene.time_step, pair.relaxation_time, softest / pair.stiffness
            found.append(
                Softened(
                    names=pair.names,
                    stiffness=pair.stiffness,
                    least=float(softest),
                    median=max(float(softest), _median(count)),
                    count=int(count.sum()),
                    # the stiffness of the limit is proportional to 1 / (beta^2 h (h + tau))
                    time_step=0.5 * (math.sqrt(tau * tau + 4.0 * ratio * h * (h + tau)) - tau),
                    near_rigid=scene.contact.near_rigid * math.sqrt(ratio),
                )
            )
    return found


def _median(count: np.ndarray) -> float:
    """The median [N/m] of a histogram, as if the contacts of a bin lay evenly in it on a scale of logarithms."""
    half = 0.5 * count.sum()
    before = np.cumsum(count) - count
    at = int(np.flatnonzero(before + count >= half)[0])
    return 2.0 ** (LOWEST + (at + (half - before[at]) / count[at]) / PER_OCTAVE)
