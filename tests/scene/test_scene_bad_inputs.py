"""Bad scenes: every fault is found, with its place, its code and a way out, and all faults of a file in one pass.

In the texts below `#!` marks the line on which a fault stands, followed by its code (and, after `@`, its column).
"""

import re

import pytest

from sapsim.errors import SceneError
from sapsim.scene.read import loads

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 10\n"

# A two-link arm that is right; the cases below spoil it.
ARM = """
models:
  arm:
    links:
      base: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      tip: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
    joints:
      hinge: {type: revolute, parent: base, child: tip, axis: [0, 1, 0]}
instances:
  a: {model: arm, base: fixed}
"""


def errors_of(text, **options):
    """The errors of a text, which must have some."""
    with pytest.raises(SceneError) as caught:
        loads(text, file="bad.yaml", **options)
    return caught.value.errors


def marks(text):
    """(line, code, column or None) of every `#!` in a text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for code, column in re.findall(r"#! ([\w-]+)(?:@(\d+))?", line):
            found.append((number, code, int(column) if column else None))
    return found


CASES = {
    "broken YAML": HEAD + "bodies: {ball: {sphere: 0.1\nworld: {}  #! yaml-syntax\n",
    "tab": HEAD + "bodies:\n\tball: {}  #! yaml-syntax\n",
    "second document": HEAD + "---  #! yaml-syntax\nsapsim: 1\n",
    "tag": HEAD + "bodies: !!python/object:os.system {}  #! bad-tag@9\n",
    "unknown key": HEAD + "gravty: [0, 0, -9.81]  #! unknown-key@1\n",
    "unknown deep key": HEAD + "bodies: {b: {sphere: 1, mass: 1, frictoin: 1}}  #! unknown-key@34\n",
    "wrong type": HEAD + "gravity: down  #! wrong-type@10\n",
    "number with a unit": HEAD + "bodies: {b: {sphere: 0.5m, mass: 1}}  #! wrong-type@22\n",
    "quoted number": HEAD + "bodies: {b: {sphere: '0.5', mass: 1}}  #! wrong-type\n",
    "a truth value as a number": HEAD + "bodies: {b: {sphere: true, mass: 1}}  #! wrong-type\n",
    "a list for a mapping": HEAD + "bodies: [1, 2]  #! wrong-type\n",
    "two numbers for three": HEAD + "gravity: [0, -9.81]  #! wrong-length@10\n",
    "duplicate key": HEAD + "steps: 20  #! duplicate-key@1\n",
    "merge key of YAML 1.1": HEAD + "worlds: {<<: {count: 2}}  #! unknown-key\n",
    "NaN": HEAD + "gravity: [0, .nan, 0]  #! not-finite@14\n",
    "infinity": HEAD + "gravity: [0, 0, -.inf]  #! not-finite\n",
    "overflowing number": HEAD + "gravity: [0, 0, -1e999]  #! not-finite\n",
    "overflowing integer": HEAD + f"gravity: [0, 0, {'9' * 400}]  #! not-finite\n",
    "infinite stiffness": HEAD + "materials: {m: {stiffness: .inf}}  #! not-finite\n",
    "negative mass": HEAD + "bodies: {b: {sphere: 1, mass: -1}}  #! out-of-range@31\n",
    "zero length": HEAD + "bodies: {b: {box: [1, 0, 1], mass: 1}}  #! out-of-range@23\n",
    "negative length": HEAD + "bodies: {b: {sphere: -1, mass: 1}}  #! out-of-range\n",
    "zero time step": "sapsim: 1\ntime_step: 0  #! out-of-range@12\nsteps: 10\n",
    "missing time step": "sapsim: 1  #! missing-key\nsteps: 10\n",
    "no length of the run": "sapsim: 1  #! missing-key\ntime_step: 1e-3\n",
    "steps and duration": HEAD + "duration: 1  #! exclusive-keys\n",
    "duration below a step": "sapsim: 1\ntime_step: 0.1\nduration: 0.01  #! out-of-range\n",
    "fraction of a step": "sapsim: 1\ntime_step: 0.1\nsteps: 1.5  #! wrong-type\n",
    "future version": "sapsim: 2  #! out-of-range\ntime_step: 0.1\nsteps: 1\n",
    "body without mass": HEAD + "bodies: {b: {sphere: 1}}  #! missing-key@10\n",
    "body without shape": HEAD + "bodies: {b: {mass: 1}}  #! missing-key@10\n",
    "body with two shapes": HEAD + "bodies: {b: {mass: 1, sphere: 1, box: [1, 1, 1]}}  #! exclusive-keys\n",
    "body with mass and density": HEAD + "bodies: {b: {mass: 1, density: 1, sphere: 1}}  #! exclusive-keys\n",
    "weightless body": HEAD + "bodies: {b: {mass: 0, sphere: 1}}  #! massless@14\n",
    "plane as a body": HEAD + "bodies: {b: {mass: 1, plane: {}}}  #! missing-inertia\n",
    "name with a slash": HEAD + "bodies: {a/b: {mass: 1, sphere: 1}}  #! bad-name@10\n",
    "reserved name": HEAD + "bodies: {world: {mass: 1, sphere: 1}}  #! reserved-name\n",
    "name twice": HEAD + ARM + "bodies: {a: {mass: 1, sphere: 1}}  #! duplicate-name\n",
    "scene name with a slash": HEAD + "name: a/b  #! bad-name\n",
    "number as a name": HEAD + "name: 2024  #! wrong-type\n",
    "zero quaternion": HEAD + "bodies: {b: {mass: 1, sphere: 1, pose: {quaternion: [0, 0, 0, 0]}}}  #! zero-quaternion\n",
    "rpy and quaternion": HEAD
    + "bodies: {b: {mass: 1, sphere: 1, pose: {rpy: [0, 0, 0], rpy_deg: [0, 0, 0]}}}  #! exclusive-keys\n",
    "unknown material": HEAD + "bodies: {b: {mass: 1, sphere: 1, material: rubber}}  #! unknown-name\n",
    "unknown model": HEAD + "instances: {a: {model: arm, base: fixed}}  #! unknown-name@17\n",
    "repeat of too many": HEAD
    + "bodies: {b: {mass: 1, sphere: 1, repeat: {count: [1000, 1000, 1], spacing: [1, 1, 1]}}}  #! too-large\n",
    "repeat of none": HEAD
    + "bodies: {b: {mass: 1, sphere: 1, repeat: {count: [0, 1, 1], spacing: [1, 1, 1]}}}  #! out-of-range\n",
    "force on nothing": HEAD + "forces: {f: {link: ball}}  #! unknown-name\n",
    "force on the world": HEAD + "forces: {f: {link: world}}  #! unknown-name\n",
    "force that ends before it starts": HEAD + ARM + "forces: {f: {link: a/tip, from: 2, until: 1}}  #! out-of-range\n",
    "filter of nothing": HEAD + ARM + "filter: [[a, tabel]]  #! unknown-name\n",
    "filter of a single name": HEAD + ARM + "filter: [[a]]  #! wrong-length\n",
    "filter pattern of nothing": HEAD + ARM + "filter: [[a, 'tab*']]  #! unknown-name\n",
    "expect without a bound": HEAD + ARM + "expect: [{link: a/tip, quantity: position.x}]  #! missing-key\n",
    "expect of two targets": HEAD
    + ARM
    + "expect: [{link: a/tip, solver: , quantity: position.x, value: 0}]  #! exclusive-keys\n",
    "unknown quantity": HEAD + ARM + "expect: [{link: a/tip, quantity: postion.x, value: 0}]  #! unknown-value\n",
    "quantity of a joint without coordinates": HEAD
    + ARM
    + "expect: [{joint: a/base, quantity: q, value: 0}]  #! unknown-value\n",
    "min above max": HEAD + ARM + "expect: [{joint: a/hinge, quantity: q, min: 1, max: 0}]  #! out-of-range\n",
    "world that does not exist": HEAD + "worlds: {count: 2}\noutput: {worlds: [0, 2]}  #! out-of-range@22\n",
    "channel twice": HEAD + "output: {channels: [state, state]}  #! duplicate-name\n",
    "shape name twice": HEAD + "world: {collision: [{plane: {}, name: a}, {sphere: 1, name: a}]}  #! duplicate-name\n",
}


def _arm(*changes):
    """The scene of the arm, with (old, new) texts exchanged."""
    text = HEAD + ARM
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


TIP = "tip: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}"
HINGE = "hinge: {type: revolute, parent: base, child: tip, axis: [0, 1, 0]}"
BASE = "base: fixed}"


def _tip(content, code):
    return _arm((TIP, f"tip: {content}  #! {code}"))


def _hinge(content, code):
    return _arm((HINGE, f"hinge: {content}  #! {code}"))


def _more_joints(joint, code=""):
    return (HINGE, f"{HINGE}\n      {joint}" + (f"  #! {code}" if code else ""))


def _instance(more, code):
    return _arm((BASE, f"base: fixed, {more}}}  #! {code}"))


CASES |= {
    "yes is a string": _instance("gravity: yes", "wrong-type"),
    "unknown joint type": _hinge("{type: revolut, parent: base, child: tip}", "unknown-value@21"),
    "unknown parent": _hinge("{type: revolute, parent: bse, child: tip}", "unknown-name"),
    "unknown child": _hinge("{type: revolute, parent: base, child: tap}", "unknown-name"),
    "world as a child": _hinge("{type: revolute, parent: base, child: world}", "unknown-name"),
    "floating joint on a link": _hinge("{type: floating, parent: base, child: tip}", "not-on-world"),
    "zero axis": _hinge("{type: revolute, parent: base, child: tip, axis: [0, 0, 0]}", "zero-axis"),
    "two roots": _arm((TIP, TIP + "\n      orphan: {}  #! two-roots@7")),
    "two parents": _arm(_more_joints("two: {type: fixed, parent: world, child: tip}", "two-parents@7")),
    "joint cycle": _arm(_more_joints("back: {type: fixed, parent: tip, child: base}", "joint-cycle@7")),
    "joint of a link with itself": _hinge("{type: revolute, parent: tip, child: tip}", "joint-cycle"),
    "missing base": _arm(("{model: arm, base: fixed}", "{model: arm}  #! missing-base@3")),
    "base where joints start at the world": _arm(
        _more_joints("w: {type: prismatic, parent: world, child: base}"), (BASE, BASE + "  #! base-not-allowed")
    ),
    "unknown base": _arm((BASE, "base: free}  #! unknown-value")),
    "massless moving link": _tip("{}", "massless@7"),
    "impossible inertia": _tip("{inertial: {mass: 1, inertia: {ixx: 0.01, iyy: 2e-3, izz: 3e-3}}}", "impossible-inertia@13"),
    "zero moment": _tip("{inertial: {mass: 1, inertia: {ixx: 0, iyy: 1, izz: 1}}}", "impossible-inertia"),
    "negative moment": _tip("{inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1, ixy: 2}}}", "impossible-inertia"),
    "inertial without mass": _tip("{inertial: {com: [0, 0, 0]}}", "missing-key"),
    "mass without shapes": _tip("{inertial: {mass: 1}}", "missing-inertia"),
    "density of a plane": _tip("{inertial: {density: 1}, collision: [{plane: {}}]}", "missing-inertia"),
    "com without inertia": _tip("{inertial: {mass: 1, com: [0, 0, 1]}, collision: [{sphere: 1}]}", "missing-inertia"),
    "joint named base": _arm((HINGE, HINGE.replace("hinge", "base") + "  #! duplicate-name")),
    "link named world": _arm(
        (TIP, TIP.replace("tip", "world") + "  #! reserved-name"),
        (HINGE, HINGE.replace("base, child: tip", "world, child: base")),
    ),
    "model without links": _arm(("models:", "models:\n  none: {links: {}}  #! no-links")),
    "unknown joint in joint_q": _instance("joint_q: {hinj: 1}", "unknown-name"),
    "too many coordinates": _instance("joint_q: {hinge: [1, 2]}", "wrong-length"),
    "coordinates of a fixed joint": _instance("joint_q: {base: [1]}", "wrong-length"),
    "coordinate given twice": _instance("joint_q: {hinge: 1}, joint_q_deg: {hinge: 1}", "exclusive-keys"),
    "degrees of a slider": _arm(("revolute", "prismatic"), (BASE, "base: fixed, joint_q_deg: {hinge: 1}}  #! wrong-unit")),
    "velocity of a fixed base": _instance("velocity: {linear: [1, 0, 0]}", "no-floating-base"),
    "velocity of a base given twice": _arm(
        (BASE, "base: floating, joint_qd: {base: [0, 0, 0, 0, 0, 0]}, velocity: {linear: [1, 0, 0]}}  #! exclusive-keys")
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_fault_is_found_where_it_stands(case):
    text = CASES[case]
    expected = marks(text)
    errors = errors_of(text)
    assert len(expected) == 1
    assert [(e.line, e.code) for e in errors] == [(line, code) for line, code, _ in expected], errors
    for error, (_, _, column) in zip(errors, expected, strict=True):
        assert error.file == "bad.yaml"
        assert error.column >= 1
        assert column is None or error.column == column
        assert error.message


LATER = {
    "include: [a.yaml]": 1,
    "initial: {file: a.h5}": 1,
    "worlds: {vary: {gravity: {values: []}}}": 10,
}


@pytest.mark.parametrize("line", LATER)
def test_what_is_not_built_yet_is_refused_and_not_skipped(line):
    text = HEAD + ARM + line
    if line.startswith("models"):
        text = HEAD + line
    (error,) = errors_of(text)
    assert error.code == "not-supported"
    assert (error.line, error.column) == (text.count("\n") + 1, LATER[line])
    assert "not supported yet" in error.message


@pytest.mark.parametrize("kind", ["ball", "planar"])
def test_a_spring_needs_a_joint_of_one_degree_of_freedom(kind):
    (error,) = errors_of(_arm(("type: revolute", f"type: {kind}, stiffness: 2"), ("axis: [0, 1, 0]", "damping: 1")))
    assert error.code == "not-one-dof" and error.path == "models.arm.joints.hinge.stiffness"
    assert error.message == f"a {kind} joint has 3 degrees of freedom; `stiffness` needs a joint with one"


def test_lengths_of_a_capsule_are_named():
    body = "bodies: {{b: {{capsule: {}, mass: 1}}}}"
    for text, code, path, words in (
        ("0.5", "wrong-type", "bodies.b.capsule", "radius, length"),
        ("[0.5, 1]", "wrong-type", "bodies.b.capsule", "radius, length"),
        ("{radius: 0.5}", "missing-key", "bodies.b.capsule.length", "length"),
        ("{radius: 0, length: 1}", "out-of-range", "bodies.b.capsule.radius", "> 0"),
        ("{radius: 1, length: 1, lenght: 1}", "unknown-key", "bodies.b.capsule.lenght", "radius, length"),
    ):
        (error,) = errors_of(HEAD + body.format(text))
        assert (error.code, error.path) == (code, path) and words in error.message + error.suggestion


def test_values_that_change_nothing_are_accepted_though_their_keys_come_later():
    scene = loads(
        _arm(("axis: [0, 1, 0]", "locked: false, limit: {}"))
        + "include: []\nconstraints: {}\nsolver: {form: v_star, islands: false, linear_solver: block_sparse}\n"
    )
    assert scene.solver.linear_solver == "block_sparse"
    assert scene.joints[1].damping == 0.0


def test_all_faults_come_out_in_one_pass_in_the_order_of_the_file():
    text = """sapsim: 1
time_step: -1  #! out-of-range
steps: ten  #! wrong-type
gravity: [0, 0, .nan]  #! not-finite
contact: {law: sap, stiction_tolerence: 1}  #! unknown-key
materials:
  rubber: {friction: -0.1}  #! out-of-range
models:
  arm:
    links:
      base: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 5}}}
      tip: {}  #! massless
      toe: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 3}}}  #! impossible-inertia
    joints:
      hinge: {type: revolute, parent: base, child: tip, axis: [0, 1, 0], dampin: 1}  #! unknown-key
      knee: {type: revolute, parent: base, child: toe, axis: [0, 0, 0]}  #! zero-axis
  pair:
    links: {a: {}, b: {}}  #! two-roots
instances:
  left: {model: arm, base: fixed, joint_q: {kne: 1}}  #! unknown-name
  right: {model: amr, base: fixed}  #! unknown-name
  mid: {model: arm}  #! missing-base
bodies:
  ball: {sphere: 0.1, mass: 1, material: ruber}  #! unknown-name
  egg: {heightfield: {heights: [[0, 0], [0, 0]]}, mass: 1}  #! missing-key
forces:
  wind: {link: bal, force: [1, 0, 0]}  #! unknown-name
  draft: {link: right/anything, force: [1, 0, 0]}
filter: [[left, ball], [left, bal]]  #! unknown-name
expect:
  - {link: egg, quantity: position.w, value: 0}  #! unknown-value
steps: 3  #! duplicate-key
"""
    errors = errors_of(text)
    assert [(e.line, e.code) for e in errors] == [(line, code) for line, code, _ in marks(text)]
    assert all(e.file == "bad.yaml" and e.column >= 1 and e.path and e.message for e in errors)


def test_a_fault_is_reported_once_although_the_model_is_used_twice():
    text = _arm((TIP, "tip: {}"), ("instances:", "instances:\n  b: {model: arm, base: floating}"))
    (error,) = errors_of(text)
    assert error.code == "massless"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gravty: [0, 0, 0]", ['unknown key "gravty"', 'did you mean "gravity"?']),
        ("steps: 20", ["line 3", "line 4"]),
        ("bodies: {b: {sphere: 0.5m, mass: 1}}", ['found "0.5m"', "allowed: a finite number > 0", "units"]),
        ("contact: {law: lagd}", ['found "lagd"', "lagged, sap", 'did you mean "lagged"?']),
        ("materials: {m: {stiffness: .inf}}", ["found .inf", "finite"]),
        ("solver: {islands: yes}", ['found "yes"', "true or false", "YAML 1.2"]),
    ],
)
def test_messages_say_what_was_found_what_is_allowed_and_how_to_mend_it(text, words):
    (error,) = errors_of(HEAD + text)
    message = str(error)
    assert message.startswith("bad.yaml:4:")
    if "law" not in text:
        assert all(word in message for word in words), message
    else:
        assert words[0] in message and words[2] in message
        assert "sap" in message and "lagged" in message


def test_both_names_of_a_filter_are_looked_up():
    errors = errors_of(HEAD + ARM + "filter: [[b, c]]")
    assert [(e.code, e.column, e.path) for e in errors] == [
        ("unknown-name", 11, "filter[0][0]"),
        ("unknown-name", 14, "filter[0][1]"),
    ]


def test_a_filter_of_too_many_pairs_is_refused():
    pile = "bodies: {p: {sphere: 1, mass: 1, repeat: {count: [1500, 1, 1], spacing: [3, 0, 0]}}}\n"
    (error,) = errors_of(HEAD + pile + "filter: [[p, p]]")
    assert (error.code, error.line, error.column) == ("too-large", 5, 10)


def test_messages_about_bodies_name_link_and_joint():
    (error,) = errors_of(CASES["impossible inertia"])
    assert '"a/tip"' in error.message and '"a/hinge"' in error.message
    assert "0.01 > 0.002 + 0.003 = 0.005" in error.message
    (error,) = errors_of(CASES["massless moving link"])
    assert '"a/tip"' in error.message and '"a/hinge"' in error.message
    (error,) = errors_of(CASES["two roots"])
    assert '"base"' in error.message and '"orphan"' in error.message
    (error,) = errors_of(CASES["two parents"])
    assert "hinge" in error.message and "two" in error.message
    (error,) = errors_of(CASES["joint cycle"])
    assert all(word in error.message for word in ("hinge", "back", "base", "tip"))
