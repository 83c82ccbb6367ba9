"""Small URDFs, written by the tests that use them."""

import re

from sapsim.errors import SceneError
from sapsim.scene.read import load, load_model

INERTIAL = """<inertial><origin xyz="0 0 -0.1"/><mass value="2"/>
      <inertia ixx=".02" ixy="0" ixz="0" iyy=".02" iyz="0" izz=".01"/></inertial>"""
# Two links on a hinge.
ARM = f"""<?xml version="1.0"?>
<robot name="arm1">
  <link name="base">{INERTIAL}</link>
  <link name="l1">
    {INERTIAL}
  </link>
  <joint name="j1" type="revolute">
    <parent link="base"/> <child link="l1"/>
    <origin xyz="0 0 0.5"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="3"/>
  </joint>
</robot>
"""
LIMIT_ARM = ARM.replace('lower="-1" upper="1" effort="10" velocity="3"', 'lower="-0.25" upper="0.5" effort="7"')
SCENE = """sapsim: 1
time_step: 0.001
steps: 100
models: {arm: {urdf: arm.urdf}}
instances: {arm: {model: arm, base: fixed}}
"""


def changed(*pairs, text=ARM):
    """The arm with each old text, which must be there once, replaced."""
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def write(folder, text, name="arm.urdf"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def model_of(folder, text=ARM, **options):
    return load_model(write(folder, text), **options)


def scene_of(folder, scene=SCENE, text=ARM, **options):
    """A scene with the arm beside it."""
    write(folder, text)
    return load(write(folder, scene, "scene.yaml"), **options)


def errors_of(read, *arguments, **options):
    """The errors of what must have some."""
    try:
        read(*arguments, **options)
    except SceneError as error:
        return error.errors
    raise AssertionError("nothing was refused")


def codes(messages):
    return [m.code for m in messages]


def marks(text):
    """(line, code) of every `#! code` in a text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        found += [(number, code) for code in re.findall(r"#! ([\w-]+)", line)]
    return found
