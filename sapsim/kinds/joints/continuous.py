"""Continuous joint: a revolute joint without position limits."""

from dataclasses import replace

from sapsim.kinds.joints import revolute

KIND = replace(revolute.KIND, name="continuous", bounded=False)
