"""Small MJCFs, written by the tests that use them."""

from sapsim.errors import SceneError
from sapsim.scene.read import load, load_model

HINGE = '<joint name="j" axis="0 1 0"/>'
BODY = '<body name="b" pos="0 0 1">{joint}<geom name="g" size=".1"/>{inside}</body>'
SCENE = """sapsim: 1
time_step: 0.001
steps: 10
models: {m: {mjcf: m.xml}}
instances: {m: {model: m}}
"""


def mjcf(world="", *, joint=HINGE, inside="", before="", after="", body=BODY) -> str:
    """A file with one body on a hinge; `world` stands before it, `before` and `after` outside of worldbody."""
    made = body.format(joint=joint, inside=inside)
    return f'<mujoco model="small">\n{before}\n<worldbody>\n{world}\n{made}\n</worldbody>\n{after}\n</mujoco>\n'


def write(folder, text, name="m.xml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def model_of(folder, text, **options):
    return load_model(write(folder, text), **options)


def scene_of(folder, text, scene=SCENE, **options):
    write(folder, text)
    return load(write(folder, scene, "scene.yaml"), **options)


def errors_of(read, *arguments, **options):
    """The errors of what must have some."""
    try:
        read(*arguments, **options)
    except SceneError as error:
        return error.errors
    raise AssertionError("nothing was refused")
