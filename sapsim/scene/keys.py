"""The grammar of a scene file: every key of the public contract (section 1), its type, unit and meaning.

This is the only list of keys: the reader, the overrides of the command line and the schema follow it.  Default values
are those of the dataclasses in `spec.py`.  `Later` marks what the contract names and is not supported yet.
"""

from sapsim.kinds.base import ShapeKind, registry
from sapsim.scene.constraint_keys import CONSTRAINT
from sapsim.scene.grammar import ByForm, ByKey, Key, Later, ListOf, MapOf, OneOf, Record, Type, Vector
from sapsim.scene.heightfield import HEIGHTFIELD, HEIGHTFIELD_KEY
from sapsim.scene.heightfield import HEIGHTS_FILE as HEIGHTS_FILE
from sapsim.scene.heightfield import HEIGHTS_TABLE as HEIGHTS_TABLE
from sapsim.scene.mesh_keys import MESH, MESH_KEY, MESH_USE
from sapsim.scene.scalars import Boolean, Choice, Integer, Nothing, Number, Text
from sapsim.scene.series_keys import CSV as CSV  # the page and the schema name what stands here
from sapsim.scene.series_keys import NUMBER_SERIES, VECTOR_SERIES
from sapsim.scene.series_keys import NUMBER_TABLE as NUMBER_TABLE
from sapsim.scene.series_keys import VECTOR_TABLE as VECTOR_TABLE

_SHAPES = ("sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "plane", "mesh", "heightfield")
_LAWS = ("sap", "similar", "lagged")
_JOINTS = (
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "floating",
    "ball",
    "planar",
    "screw",
    "universal",
    "cylindrical",
)

_positive = Number(above=0.0)
_sized = Number(above=0.0, smallest=1.0e-30)
_not_negative = Number(least=0.0)
_number = Number()
_unscaled = Number(largest=float("inf"))  # compared only, so that 1e300 can mean "no bound"
_vec3 = Vector(3, _number)
_flag = Boolean()
_name = Text("a name")


def _known(family: str, contract: tuple[str, ...]) -> Choice:
    """The kinds of a family that are built, in the contract's order; the contract's other names are for later."""
    built = registry(family)
    words = tuple(n for n in contract if n in built) + tuple(n for n in built if n not in contract)
    return Choice(words, later=tuple(n for n in contract if n not in built))


def _lengths(kind: ShapeKind) -> Type:
    """How a shape's lengths are written [m]: a mapping, a number, or a list."""
    if kind.keys or kind.nparam == 0:
        return Record({key: Key(_sized, "[m]", required=True) for key in kind.keys})
    return _sized if kind.nparam == 1 else Vector(kind.nparam, _sized)


def _shape_keys() -> dict[str, Key]:
    built = {name: kind for name, kind in registry("shapes").items() if kind.written}
    names = _SHAPES + tuple(n for n in built if n not in _SHAPES)
    keys = {n: Key(_lengths(built[n]) if n in built else Later(), "shape, lengths in m") for n in names}
    return {**keys, MESH_KEY: Key(MESH, "shape of a file"), HEIGHTFIELD_KEY: Key(HEIGHTFIELD, "heights over a rectangle")}


SHAPE_KEYS = tuple(_shape_keys())
SHAPE_GROUP = OneOf(SHAPE_KEYS, required=True)
JOINT_TYPES = _known("joints", _JOINTS)

POSE = Record(
    {
        "xyz": Key(_vec3, "position [m]"),
        "rpy": Key(_vec3, "roll, pitch, yaw about fixed axes [rad]"),
        "rpy_deg": Key(_vec3, "roll, pitch, yaw about fixed axes [deg]"),
        "quaternion": Key(Vector(4, _number), "unit quaternion x y z w"),
    },
    groups=(OneOf(("rpy", "rpy_deg", "quaternion")),),
)

MATERIAL = Record(
    {
        "stiffness": Key(_positive, "[N/m]"),
        "dissipation": Key(_not_negative, "Hunt-Crossley dissipation [s/m]"),
        "relaxation_time": Key(_not_negative, "[s]"),
        "friction": Key(_not_negative, "coefficient of friction"),
    }
)

CONTACT = Record(
    {
        "law": Key(_known("contacts", _LAWS), "contact law"),
        "stiction_tolerance": Key(_positive, "slip below which friction creeps [m/s]"),
        "near_rigid": Key(_not_negative, "beta of the near-rigid limit"),
        "sigma": Key(_positive, "friction regularisation"),
        "margin": Key(_not_negative, "gap below which a pair has contacts; they act where a step would close it [m]"),
        "default_material": Key(MATERIAL, "material of shapes that name none, and of missing keys"),
    }
)

SOLVER = Record(
    {
        "absolute_tolerance": Key(_not_negative, "of the residual [sqrt J]"),
        "relative_tolerance": Key(_not_negative, "of the larger of momentum and impulse"),
        "cost_absolute_tolerance": Key(_not_negative, "of the decrease of the cost [J]"),
        "cost_relative_tolerance": Key(_not_negative, "of the cost"),
        "max_iterations": Key(Integer(least=0, most=2**31 - 1), "of Newton's method, a step"),
        "line_search": Key(Choice(("exact", "backtracking")), "the root of the derivative, or Armijo's rule"),
        "linear_solver": Key(Choice(("auto", "block_sparse", "dense", "pcg")), "how Newton's step is solved for"),
        "form": Key(Choice(("v_star", "momentum")), "how the convex problem states free motion; the minimum is the same"),
        "islands": Key(_flag, "solve trees that contacts and constraints join as a problem of their own, or all as one"),
        "on_failure": Key(Choice(("continue", "stop")), "what the other worlds do when one fails"),
    }
)

COLLISION = ListOf(
    Record(
        {
            **_shape_keys(),
            "pose": Key(POSE, "of the shape in its link"),
            "material": Key(_name, "a name of `materials`"),
            "name": Key(_name, "the shape's name in the result"),
        },
        groups=(SHAPE_GROUP,),
    )
)

INERTIA = Record(
    {
        **{k: Key(_number, "[kg m^2]", required=True) for k in ("ixx", "iyy", "izz")},
        **{k: Key(_number, "[kg m^2]") for k in ("ixy", "ixz", "iyz")},
    }
)

INERTIAL = Record(
    {
        "mass": Key(_not_negative, "[kg]"),
        "density": Key(_positive, "[kg/m^3], with the volume of the collision shapes"),
        "com": Key(_vec3, "centre of mass in the link's frame [m]"),
        "inertia": Key(INERTIA, "about the centre of mass, in the link's axes"),
    },
    groups=(OneOf(("mass", "density"), required=True), OneOf(("density", "com")), OneOf(("density", "inertia"))),
)

_LINK_CHANGES = {
    "material": Key(_name, "of all its shapes"),
    "collision_off": Key(_flag, "whether the model's shapes of the link are left out"),
    "mass": Key(_not_negative, "[kg]; the inertia is scaled with it where it is not given"),
    "com": Key(_vec3, "centre of mass in the link's frame [m]"),
    "inertia": Key(INERTIA, "about the centre of mass, in the link's axes"),
    "meshes": Key(MESH_USE, "how the meshes among its shapes collide, as `as` of a mesh"),
}
LINK = Record({"inertial": Key(INERTIAL, ""), "collision": Key(COLLISION, ""), **_LINK_CHANGES})
LINK_OVERLAY = Record({"collision": Key(COLLISION, "added to the model's shapes"), **_LINK_CHANGES})

_vector_in_time = ByForm({"seq": _vec3, "map": VECTOR_SERIES})
_number_in_time = ByForm({"number": _number, "map": NUMBER_SERIES})
_target_in_time = ByForm({"number": _number, "str": Choice(("initial",)), "map": NUMBER_SERIES})

LIMIT = Record(
    {
        "lower": Key(_number, "least coordinate [m or rad]; default: none"),
        "upper": Key(_number, "greatest coordinate [m or rad]; default: none"),
        "lower_deg": Key(_number, "least coordinate [deg]"),
        "upper_deg": Key(_number, "greatest coordinate [deg]"),
        "effort": Key(_not_negative, "bound of the sum of the joint's actuators [N or N m]; default: none"),
        "velocity": Key(_not_negative, "kept, not enforced [m/s or rad/s]"),
    },
    groups=(OneOf(("lower", "lower_deg")), OneOf(("upper", "upper_deg"))),
)

JOINT = Record(
    {
        "type": Key(JOINT_TYPES, "", required=True),
        "parent": Key(_name, "a link, or world", required=True),
        "child": Key(_name, "a link", required=True),
        "origin": Key(POSE, "of the joint frame in the parent link"),
        "axis": Key(_vec3, "in the joint frame; normalised; of a planar joint the normal"),
        "axis2": Key(_vec3, "of a universal joint: in the joint frame at zero, carried by the first rotation; normalised"),
        "pitch": Key(_number, "of a screw joint: advance along the axis [m/rad]"),
        "limit": Key(LIMIT, "of a joint of one degree of freedom"),
        "damping": Key(_not_negative, "[N s/m or N m s/rad]"),
        "friction": Key(_not_negative, "dry friction, of each degree of freedom [N or N m]"),
        "armature": Key(_not_negative, "[kg or kg m^2]"),
        "stiffness": Key(_not_negative, "of a spring [N/m or N m/rad]; joints of one degree of freedom"),
        "reference": Key(_number, "coordinate at which the spring is at rest [m or rad]"),
        "locked": Key(_flag, "held at its initial coordinates: its degrees of freedom are taken out"),
        "collide": Key(_flag, "whether the two bodies of the joint may touch"),
    }
)

JOINT_OVERLAY = Record(
    {
        "type": Key(Choice(("fixed",)), "holds the child where the joint's zero has it"),
        **{k: JOINT.keys[k] for k in ("damping", "friction", "armature", "stiffness", "reference", "limit", "locked")},
    }
)

VELOCITY = Record(
    {
        "linear": Key(_vec3, "of the centre of mass, world axes [m/s]"),
        "angular": Key(_vec3, "world axes [rad/s]"),
    }
)

_INSTANCE_DEFAULTS = {
    "material": Key(_name, "of the shapes that name none"),
    "gravity": Key(_flag, "whether gravity acts"),
    "collision": Key(_flag, "whether its shapes touch anything"),
    "self_collision": Key(_flag, "whether its links touch one another"),
    "velocity": Key(VELOCITY, "of the floating base"),
}

_OVERLAYS = {
    "links": Key(MapOf(LINK_OVERLAY, "link", named_elsewhere=True), "changes of links of the model"),
    "joints": Key(MapOf(JOINT_OVERLAY, "joint", named_elsewhere=True), "changes of joints of the model"),
}
_FILES = {"urdf": Key(Text("a path"), "a URDF file"), "mjcf": Key(Text("a path"), "an MJCF file; needs the package mujoco")}
_inertia_policy = Key(Choice(("error", "estimate", "fix")), "what is done about impossible inertias; default: error")

MODEL_IN_FILE = Record(
    {
        **_FILES,
        "packages": Key(MapOf(Text("a folder"), "package"), "folders of package://NAME"),
        **_OVERLAYS,
        **_INSTANCE_DEFAULTS,
        "inertia": _inertia_policy,
    },
    groups=(OneOf(tuple(_FILES), required=True),),
)
MODEL_IN_SCENE = Record(
    {
        "links": Key(MapOf(LINK, "link"), ""),
        "joints": Key(MapOf(JOINT, "joint"), ""),
        **_INSTANCE_DEFAULTS,
        **_FILES,
        "inertia": _inertia_policy,
    },
    groups=(OneOf(("links", *_FILES), required=True),),
)
MODEL = ByKey(dict.fromkeys(_FILES, MODEL_IN_FILE), MODEL_IN_SCENE)

_coordinates = MapOf(ByForm({"number": _number, "seq": ListOf(_number)}), "joint")

INSTANCE = Record(
    {
        "model": Key(_name, "a name of `models`", required=True),
        "pose": Key(POSE, "of the model's root in the world"),
        "base": Key(Choice(("fixed", "floating")), ""),
        "joint_q": Key(_coordinates, "initial coordinates [m or rad]"),
        "joint_q_deg": Key(_coordinates, "initial angles [deg]"),
        "joint_qd": Key(_coordinates, "initial velocities [m/s or rad/s]"),
        **_INSTANCE_DEFAULTS,
        **_OVERLAYS,
    }
)

REPEAT = Record(
    {
        "count": Key(Vector(3, Integer(least=1, most=10**6)), "along world x, y, z", required=True),
        "spacing": Key(_vec3, "along world axes [m]", required=True),
        "jitter": Key(
            Record(
                {
                    "xyz": Key(Vector(3, _not_negative), "half widths [m]"),
                    "rpy": Key(Vector(3, _not_negative), "half widths [rad]"),
                    "rpy_deg": Key(Vector(3, _not_negative), "half widths [deg]"),
                    "seed": Key(Integer(least=0, most=2**63 - 1), ""),
                },
                groups=(OneOf(("rpy", "rpy_deg")),),
            ),
            "uniform, +- these half widths",
        ),
    }
)

BODY = Record(
    {
        **_shape_keys(),
        "mass": Key(_not_negative, "[kg]"),
        "density": Key(_positive, "[kg/m^3]"),
        "material": Key(_name, "a name of `materials`"),
        "pose": Key(POSE, "in the world"),
        "velocity": Key(VELOCITY, ""),
        "repeat": Key(REPEAT, "a grid of equal bodies"),
    },
    groups=(SHAPE_GROUP, OneOf(("mass", "density"), required=True)),
)

ACTUATOR = Record(
    {
        "joint": Key(_name, "a joint of one degree of freedom, or a pattern: then one actuator to a joint", required=True),
        "kp": Key(_not_negative, "position gain [N/m or N m/rad]; default 0"),
        "kd": Key(_not_negative, "velocity gain [N s/m or N m s/rad]; default 0"),
        "target": Key(_target_in_time, "coordinate [m or rad]; `initial`: that at t = 0; default 0"),
        "target_deg": Key(_number, "coordinate [deg]"),
        "target_velocity": Key(_number_in_time, "[m/s or rad/s]; default 0"),
        "feedforward": Key(_number_in_time, "added to what the gains make [N or N m]; default 0"),
        "effort": Key(_number_in_time, "open loop [N or N m]"),
        "effort_limit": Key(_not_negative, "bound of the actuator's effort [N or N m]; default: none"),
    },
    groups=(
        OneOf(("target", "target_deg")),
        *(OneOf(("effort", key)) for key in ("kp", "kd", "target", "target_deg", "target_velocity", "feedforward")),
    ),
)

FORCE = Record(
    {
        "link": Key(_name, "a link", required=True),
        "force": Key(_vector_in_time, "force [N]"),
        "torque": Key(_vector_in_time, "torque [N m]"),
        "point": Key(_vec3, "where the force acts, in link coordinates [m]"),
        "frame": Key(Choice(("world", "link")), "axes of force and torque"),
        "from": Key(_unscaled, "when it starts; default: always [s]"),
        "until": Key(_unscaled, "when it ends; default: never [s]"),
    }
)

_WORLDS = ByForm({"str": Choice(("all",)), "seq": ListOf(Integer(least=0))})

EXPECT = Record(
    {
        "link": Key(_name, "of this link"),
        "joint": Key(_name, "of this joint"),
        "world": Key(Nothing(), "of the whole world"),
        "solver": Key(Nothing(), "of the solver"),
        "quantity": Key(_name, "what is compared", required=True),
        "at": Key(ByForm({"number": _not_negative, "str": Choice(("end", "all"))}), "time [s], end or all"),
        "value": Key(_unscaled, "what it must be, within atol + rtol |value|"),
        "min": Key(_unscaled, "the least it may be"),
        "max": Key(_unscaled, "the most it may be"),
        "atol": Key(_not_negative, "absolute tolerance, in the quantity's unit"),
        "rtol": Key(_not_negative, "relative tolerance"),
        "worlds": Key(_WORLDS, "which worlds are checked"),
    },
    groups=(
        OneOf(("link", "joint", "world", "solver"), required=True),
        OneOf(("value", "min")),
        OneOf(("value", "max")),
    ),
)

OUTPUT = Record(
    {
        "every": Key(Integer(least=1, most=2**31 - 1), "steps from row to row"),
        "channels": Key(
            ListOf(Choice(("state", "contacts", "solver", "constraints", "energy", "reactions"))), "what is recorded"
        ),
        "dtype": Key(Choice(("float64", "float32")), "of recorded numbers"),
        "compression": Key(Choice(("gzip", "none")), "of the file"),
        "flush_seconds": Key(_positive, "time between two writes to the disk [s]"),
        "worlds": Key(_WORLDS, "which worlds are recorded"),
    }
)

SCENE = Record(
    {
        "sapsim": Key(Integer(least=1, most=1), "version of the scene format", required=True),
        "name": Key(_name, "default: the file's stem"),
        "include": Key(Later(neutral=[]), ""),
        "gravity": Key(_vec3, "acceleration of gravity [m/s^2]"),
        "time_step": Key(_sized, "h [s]", required=True),
        "duration": Key(_positive, "length of the run; steps = round(duration / h) [s]"),
        "steps": Key(Integer(least=1, most=2**53), "length of the run in steps"),
        "contact": Key(CONTACT, "contact law and its settings"),
        "solver": Key(SOLVER, "settings of the solver"),
        "materials": Key(MapOf(MATERIAL, "material"), "contact properties of one surface"),
        "models": Key(MapOf(MODEL, "model"), "links and joints"),
        "instances": Key(MapOf(INSTANCE, "instance"), "models placed in the world"),
        "bodies": Key(MapOf(BODY, "body"), "single floating links"),
        "world": Key(Record({"collision": Key(COLLISION, "shapes that do not move")}), "what does not move"),
        "constraints": Key(MapOf(CONSTRAINT, "constraint"), "between joints, links and the world"),
        "actuators": Key(MapOf(ACTUATOR, "actuator"), "drives of joints"),
        "forces": Key(MapOf(FORCE, "force"), "forces and torques on links"),
        "filter": Key(ListOf(ListOf(_name, 2)), "pairs that are never tested"),
        "initial": Key(Later(neutral={}), ""),
        "worlds": Key(
            Record(
                {
                    "count": Key(Integer(least=1, most=2**31 - 1), "how many; default 1"),
                    "seed": Key(Integer(least=0, most=2**63 - 1), "of what is drawn at random; default 0"),
                    "vary": Key(Later(neutral={}), ""),
                }
            ),
            "copies of the scene that run side by side",
        ),
        "output": Key(OUTPUT, "what is recorded"),
        "expect": Key(ListOf(EXPECT), "what `--check` verifies"),
    },
    groups=(OneOf(("duration", "steps"), required=True),),
)
