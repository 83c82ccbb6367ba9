"""Inputs over time: closed forms of the scheme's own sums, equality with constants and with `from`/`until`, the NumPy twin."""

import numpy as np
import pytest

from sapsim.errors import SceneError
from sapsim.reference.step import Twin
from sapsim.scene.read import load, loads
from sapsim.step.simulation import Simulation

H, STEPS = 0.01, 60
SLIDER = """
sapsim: 1
time_step: 0.01
steps: 60
gravity: [0, 0, 0]
models:
  m:
    links: {a: {inertial: {mass: 2.0, inertia: {ixx: 1, iyy: 1, izz: 1}}}}
    joints: {slide: {type: prismatic, parent: world, child: a, axis: [1, 0, 0]LIMIT}}
instances: {m: {model: m}}
"""
TIMES = H * np.arange(STEPS)  # at which the steps start


def slide(text: str, limit: str = "", **more) -> np.ndarray:
    """Velocities of the slider after every step."""
    scene = loads(SLIDER.replace("LIMIT", limit) + text, file="slider.yaml")
    return Simulation(scene, device="cpu", **more).advance(STEPS).joint_qd[:, 0, 0]


def test_an_effort_is_taken_at_the_start_of_each_step():
    """v_n = h / m sum F(t_k): a ramp, held before and after."""
    found = slide("actuators: {push: {joint: m/slide, effort: {times: [0.1, 0.3], values: [1, 5]}}}")
    F = np.interp(TIMES, [0.1, 0.3], [1.0, 5.0])
    np.testing.assert_allclose(found, H / 2.0 * np.cumsum(F), rtol=1e-13)  # round-off of sixty sums


def test_held_values_change_in_the_step_that_starts_at_their_time():
    """Times that no binary fraction meets: 0.07 and 0.29 are the starts of steps 7 and 29."""
    text = "actuators: {push: {joint: m/slide, effort: {times: [0, 0.07, 0.29], values: [1, -2, 4], interpolation: hold}}}"
    F = np.where(np.arange(STEPS) < 7, 1.0, np.where(np.arange(STEPS) < 29, -2.0, 4.0))
    np.testing.assert_allclose(slide(text), H / 2.0 * np.cumsum(F), rtol=1e-13)


def test_bounds_hold_in_every_step():
    """Own bound first, then that of the joint, with a constant effort beside it."""
    limit = ", limit: {effort: 3}"
    text = (
        "actuators:\n  ramp: {joint: m/slide, effort: {times: [0, 0.59], values: [-8, 8]}, effort_limit: 5}\n"
        "  bias: {joint: m/slide, effort: 1}\n"
    )
    ramp = np.clip(np.interp(TIMES, [0.0, 0.59], [-8.0, 8.0]), -5.0, 5.0)
    F = np.clip(ramp + 1.0, -3.0, 3.0)
    np.testing.assert_allclose(slide(text, limit), H / 2.0 * np.cumsum(F), rtol=1e-12)


def test_a_drive_gets_what_the_effort_leaves():
    """Far from its target a drive gives all it may: the sum of both stays within the joint's bound."""
    limit = ", limit: {effort: 3}"
    text = (
        "actuators:\n  push: {joint: m/slide, effort: {times: [0, 0.59], values: [-10, 10]}}\n"
        "  hold: {joint: m/slide, kp: 1000, kd: 1, target: 1000, effort_limit: 4}\n"
    )
    e = np.interp(TIMES, [0.0, 0.59], [-10.0, 10.0])
    F = np.where(np.abs(e) - 4.0 >= 3.0, np.clip(e, -3.0, 3.0), np.clip(e + 4.0, -3.0, 3.0))
    np.testing.assert_allclose(slide(text, limit), H / 2.0 * np.cumsum(F), rtol=1e-9)  # the solver's tolerance


def test_a_drive_follows_a_moving_target():
    """Implicit PD: (m + h^2 kp + h kd) v = m v0 - h kp (q0 - target(t_k)) + h kd target_velocity(t_k) + h feedforward(t_k)."""
    ramp, rate, push = ([0.1, 0.4], [0.0, 0.3]), ([0.0, 0.2], [1.0, 0.0]), ([0.0, 0.5], [0.5, -0.5])

    def yaml(series) -> str:
        return f"{{times: {series[0]}, values: {series[1]}}}"

    text = (
        f"actuators: {{hold: {{joint: m/slide, kp: 40, kd: 3, target: {yaml(ramp)}, target_velocity: {yaml(rate)}, "
        f"feedforward: {yaml(push)}}}}}"
    )
    q = v = 0.0
    expected = []
    for t in TIMES:
        target, speed, extra = (np.interp(t, *series) for series in (ramp, rate, push))
        v = (2.0 * v - H * 40.0 * (q - target) + H * 3.0 * speed + H * extra) / (2.0 + H * H * 40.0 + H * 3.0)
        q += H * v
        expected.append(v)
    np.testing.assert_allclose(slide(text), expected, rtol=1e-9, atol=1e-12)  # one quadratic problem a step


BODY = """
sapsim: 1
time_step: 0.01
steps: 60
gravity: [0, 0, 0]
bodies: {b: {box: [0.2, 0.3, 0.4], mass: 2.0, velocity: {angular: [1, 2, 3]}, pose: {rpy: [0.3, 0.2, 0.1]}}}
forces: {f: {link: b, point: [0.1, 0.2, 0.3], frame: FRAME, FORCE}}
"""


def body(force: str, frame: str = "world", **more) -> np.ndarray:
    scene = loads(BODY.replace("FRAME", frame).replace("FORCE", force), file="body.yaml")
    return Simulation(scene, device="cpu", **more).advance(STEPS).joint_qd[:, 0]


def test_a_force_over_time_accelerates_the_mass_centre():
    found = body("force: {times: [0, 0.5], values: [[0, 0, 1], [4, -2, 1]]}, torque: [0.1, 0, 0]")
    F = np.stack([np.interp(TIMES, [0.0, 0.5], [a, b]) for a, b in ((0.0, 4.0), (0.0, -2.0), (1.0, 1.0))], axis=1)
    # floating joint_qd holds v of the mass centre; O(h) terms of the turning body: none, since momentum is exact
    np.testing.assert_allclose(found[:, :3], H / 2.0 * np.cumsum(F, axis=0), atol=2e-3)


@pytest.mark.parametrize("frame", ["world", "link"])
def test_a_held_force_is_that_of_from_and_until(frame):
    """The same steps, the same numbers: to the last bit."""
    held = body("force: {times: [0, 0.07, 0.29], values: [[0, 0, 0], [1, 2, 3], [0, 0, 0]], interpolation: hold}", frame)
    np.testing.assert_array_equal(held, body("force: [1, 2, 3], from: 0.07, until: 0.29", frame))


def test_a_constant_series_is_a_constant():
    constant = body("force: [1, 2, 3], torque: [0, 0.5, 0]", "link")
    series = body("force: {times: [0.2], values: [[1, 2, 3]]}, torque: [0, 0.5, 0]", "link")
    np.testing.assert_array_equal(constant, series)


def test_captured_stages_are_the_fused_kernel():
    text = "force: {times: [0, 0.5], values: [[0, 0, 1], [4, -2, 1]]}"
    np.testing.assert_array_equal(body(text, fused=True), body(text, fused=False))


ARM = """
sapsim: 1
time_step: 0.002
steps: 400
models:
  arm:
    links:
      upper: {inertial: {mass: 1.0, com: [0, 0, -0.2], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.004}}}
      lower: {inertial: {mass: 0.5, com: [0, 0, -0.2], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.002}},
              collision: [{sphere: 0.06, pose: {xyz: [0, 0, -0.4]}}]}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.1, limit: {effort: 6}}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0, 0, -0.4]}, axis: [0, 1, 0]}
instances: {arm: {model: arm, pose: {xyz: [0, 0, 0.85]}, joint_q: {shoulder: 0.3, elbow: -0.2}}}
world: {collision: [{plane: {}}]}
actuators:
  push: {joint: arm/shoulder, effort: {times: [0, 0.3, 0.6], values: [-9, 9, 0]}, effort_limit: 8}
  more: {joint: arm/shoulder, effort: 0.5}
  hold: {joint: arm/shoulder, kp: 30, kd: 1, target: {times: [0, 0.5], values: [0.3, -0.2]}, effort_limit: 5}
  damp: {joint: arm/shoulder, kd: 0.5, effort_limit: 1}
  bend: {joint: arm/elbow, kp: 20, kd: 1, target: {times: [0, 0.2, 0.4], values: [-0.2, 0.6, -0.6], interpolation: hold},
         feedforward: {times: [0, 1], values: [0, 2]}}
forces:
  wind: {link: arm/lower, force: {times: [0, 0.4], values: [[0, 0, 0], [3, 0, 1]]}, point: [0, 0, -0.3], frame: link}
"""


def test_the_twin_takes_the_same_inputs():
    """One step from the same state every twenty steps, both at 1e-13."""
    scene = loads(ARM, file="arm.yaml", overrides=("solver.relative_tolerance=1e-13",))
    sim, twin = Simulation(scene, device="cpu"), Twin(scene)
    block = sim.initial()
    for k in range(20):
        if k:
            block = sim.advance(19)
        q, qd = block.joint_q[-1, 0], block.joint_qd[-1, 0]
        result = twin.step(q, qd, sim.steps_done)
        block = sim.advance(1)
        assert block.converged.all() and result.converged
        assert result.velocity_error(twin.internal(block.joint_q[-1, 0], block.joint_qd[-1, 0])) <= 1e-10


def test_a_file_of_numbers(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "push.csv").write_text("time,effort\n# a note\n0.1, 1\n\n0.3, 5\n")
    path = tmp_path / "slider.yaml"
    path.write_text(SLIDER.replace("LIMIT", "") + "actuators: {push: {joint: m/slide, effort: {csv: data/push.csv}}}")
    found = Simulation(load(str(path)), device="cpu").advance(STEPS).joint_qd[:, 0, 0]
    np.testing.assert_array_equal(
        found, slide("actuators: {push: {joint: m/slide, effort: {times: [0.1, 0.3], values: [1, 5]}}}")
    )


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        ("effort: {times: [0, 1], values: [1]}", "wrong-length", "2 times and 1 values"),
        ("effort: {times: [], values: []}", "wrong-length", "at least one"),
        ("effort: {times: [0, 0], values: [1, 2]}", "out-of-range", "strictly ascending"),
        ("effort: {times: [0, 1], values: [1, up]}", "wrong-type", "a finite number"),
        ("effort: {times: [0, 1]}", "missing-key", "values"),
        ("effort: {times: [0, 1], values: [1, 2], interpolation: cubic}", "unknown-value", "linear, hold"),
        ("effort: {csv: none.csv}", "missing-file", "does not exist"),
        ("effort: {csv: ../far.csv}", "not-allowed", "outside"),
        ("effort: {csv: words.csv}", "bad-file", 'found "0.1,one"'),
        ("effort: {csv: wide.csv}", "bad-file", "a time and 1 finite number"),
        ("effort: {csv: back.csv}", "out-of-range", "time 0.1 s comes after 0.2 s"),
        ("effort: {csv: empty.csv}", "bad-file", "no rows of numbers"),
    ],
)
def test_faults_have_a_place(entry, code, words, tmp_path):
    files = {"words": "t,f\n0,1\n0.1,one\n", "wide": "0,1,2\n", "back": "0.2,1\n0.1,2\n", "empty": "t,f\n"}
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)
    path = tmp_path / "slider.yaml"
    text = SLIDER.replace("LIMIT", "") + f"actuators:\n  push: {{joint: m/slide, {entry}}}\n"
    path.write_text(text)
    with pytest.raises(SceneError) as caught:
        load(str(path))
    (error,) = caught.value.errors
    assert error.code == code and words in f"{error.message} {error.suggestion}"
    in_csv = {"words": 3, "wide": 1, "back": 2}
    named = next((n for n in in_csv if f"{n}.csv" in entry), None)
    if named:
        assert error.file.endswith(f"{named}.csv") and error.line == in_csv[named]
    else:
        assert error.file == str(path) and error.line == text.count("\n")
