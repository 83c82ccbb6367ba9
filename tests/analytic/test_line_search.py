"""Line searches whose alpha is far below one: a slider that slips by more than friction needs a step to stop it.

1 kg on a slider along x with a contact under a load of h k depth = 20 N s, slipping by v = 1e-4 m/s with mu = 1/2.  Friction
takes 10 N s, so it sticks.  Newton's step from v sees the friction of slip, whose curvature is nearly none: it asks for
-10 m/s, and alpha = 1e-5 stops the slider.
"""

import pytest
from yaml_scene import simulation

SLIDER = """
sapsim: 1
time_step: 0.001
steps: 1
gravity: [0, 0, 0]
contact:
  {law: lagged, sigma: 1.0e-9, stiction_tolerance: 1.0e-7, default_material: {stiffness: 2.0e+6, dissipation: 0, friction: 0.5}}
solver: {line_search: SEARCH, relative_tolerance: 1.0e-9}
world: {collision: [{plane: {}}]}
models:
  slider:
    links: {slider: {inertial: {mass: 1, com: [0, 0, 0], inertia: {ixx: 1, iyy: 1, izz: 1}}, collision: [{sphere: 0.1}]}}
    joints: {x: {type: prismatic, parent: world, child: slider, axis: [1, 0, 0]}}
instances: {s: {model: slider, pose: {xyz: [0, 0, 0.08]}, joint_qd: {x: 1.0e-4}}}
"""


@pytest.mark.parametrize("search", ["exact", "backtracking"])
def test_a_step_that_needs_a_small_alpha_is_found(search):
    """v = mu n t with t = v / sqrt(v^2 + eps^2): m (v0 - v) = 10 t, so v = eps m v0 / 10 = 1e-12 m/s."""
    block = simulation(SLIDER.replace("SEARCH", search)).advance(1)
    assert block.status[0, 0] == 0 and block.converged[0, 0]
    assert abs(block.joint_qd[0, 0, 0]) < 1.0e-8
