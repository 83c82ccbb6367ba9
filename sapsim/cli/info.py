"""`sapsim info`: what a scene, a result file or this machine is."""

import os
from typing import Annotated, Any

import typer

from sapsim.errors import UsageError

from .messages import print_findings, print_json, say
from .options import Allow, Inertia, Json, Package, Traceback, packages_of
from .warp_start import build_simulation, start_warp, stdout_to_stderr

HELP = """Describe a scene, a model file, a result file, or this machine.

Example: sapsim info robot.urdf --base floating --json
"""
PACKAGES = ("warp-lang", "numpy", "scipy", "h5py", "trimesh", "typer", "pyyaml", "pydantic", "rich")


def command(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="Scene, model or result file; without: this machine.")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="KIND", help="How a model file stands: fixed (default) or floating.")
    ] = None,
    inertia: Inertia = None,
    package: Package = None,
    allow: Allow = None,
    devices: Annotated[bool, typer.Option("--devices", help="List the devices of this machine.")] = False,
    as_json: Json = False,
    traceback: Traceback = False,
) -> int:
    """Tells by its first bytes and its suffix what a file is."""
    if file is None:
        found = _machine()
    elif _is_result(file):
        found = _result(file)
    elif _is_model(file):
        found = _model(file, base, inertia, packages_of(package), as_json)
    else:
        if base is not None:
            raise UsageError(f"{file}: --base is for model files; a scene says how its instances stand")
        if inertia is not None:
            raise UsageError(f"{file}: --inertia is for model files; in a scene every model says `inertia`")
        found = _scene(file, packages_of(package), allow or (), as_json)
    if devices and file is not None:
        found["devices"] = _machine()["devices"]
    if as_json:
        print_json(found)
    else:
        _print(found)
    return 0


def _is_result(path: str) -> bool:
    if path == "-" or not os.path.isfile(path):
        return False
    from sapsim.record.reader import is_result

    return is_result(path)


def _is_model(path: str) -> bool:
    from sapsim.scene.read import is_model_file

    return is_model_file(path)


def _model(path: str, base: str | None, inertia: str | None, packages: dict[str, str], as_json: bool) -> dict[str, Any]:
    """Sizes, links and joints of a model file that stands alone in the world."""
    from sapsim.scene.read import load_model

    scene = load_model(path, base=base, packages=packages, inertia=inertia or "error")
    return {"kind": "model", "base": scene.extra["base"], **_contents(scene, path, as_json)}


def _scene(path: str, packages: dict[str, str], allow: Any, as_json: bool) -> dict[str, Any]:
    """Sizes, links and joints of a scene."""
    from sapsim.scene.read import load

    scene = load(path, packages=packages, allow=allow, geometry=False)
    settings = {
        "time_step": scene.time_step,
        "steps": scene.steps,
        "worlds": scene.nworld,
        "contact_law": scene.contact.law,
    }
    return {"kind": "scene", **_contents(scene, path, as_json), **settings}


def _contents(scene: Any, path: str, as_json: bool) -> dict[str, Any]:
    """What is in a scene, and the memory that simulating it takes."""
    from sapsim.kinds.base import registry

    if not as_json:
        print_findings([], list(scene.warnings))
    with stdout_to_stderr():
        sim, _, _ = build_simulation(scene, "cpu", "float64", quiet=as_json)
    kinds = registry("joints")
    parent = {joint.child: joint.parent for joint in scene.joints}
    joints = [
        {
            "name": j.name,
            "type": j.kind,
            "nq": kinds[j.kind].nq,
            "nv": kinds[j.kind].nv,
            "lower": j.limit.lower,
            "upper": j.limit.upper,
        }
        for j in scene.joints
    ]
    return {
        "name": scene.name,
        "file": path,
        "nbody": len(scene.links),
        "njoint": len(scene.joints),
        "nq": sum(j["nq"] for j in joints),
        "nv": sum(j["nv"] for j in joints),
        "nshape": len(scene.world_shapes) + sum(len(link.shapes) + len(link.unbuilt) for link in scene.links),
        "mass": sum(link.inertial.mass for link in scene.links),
        "bodies": [
            {"name": link.name, "mass": link.inertial.mass, "parent": parent.get(link.name, "world")} for link in scene.links
        ],
        "joints": joints,
        "memory_bytes": int(sim.memory_bytes),
        "warnings": [w.as_dict() for w in scene.warnings],
    }


def _result(path: str) -> dict[str, Any]:
    """What a result file says about itself."""
    from sapsim.record.reader import open_run

    with open_run(path) as run:
        attrs = run.file.attrs
        found = {
            "kind": "result",
            "file": path,
            "status": run.status,
            "rows": run.rows,
            "worlds": len(run.worlds),
            "time_step": run.time_step,
            "steps": int(attrs["steps"]),
            "every": int(attrs["every"]),
            "simulated_seconds": float(run.time[-1]) if run.rows else 0.0,
            "wall_seconds": float(attrs["wall_seconds"]),
            "nbody": len(run.bodies),
            "njoint": len(run.joints),
            "nq": len(run.coordinates),
            "nv": len(run.dofs),
            "nshape": len(run.shapes),
            "channels": [name for name in ("state", "contacts", "solver", "energy") if run.has(name)],
            "bytes": os.path.getsize(path),
        }
        for name in ("title", "contact_law", "precision", "device", "sapsim_version", "warp_version", "started_at", "command"):
            found[name] = str(attrs[name])
        if run.has("contacts"):
            found["contacts"] = int(run.rows_of("contacts/count").sum())
        if run.has("solver"):
            found["unconverged_rows"] = int((~run.rows_of("solver/converged")).any(axis=1).sum())
            found["iterations_max"] = int(run.rows_of("solver/iterations").max(initial=0))
        return found


def _machine() -> dict[str, Any]:
    """Versions and devices."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from sapsim import __version__

    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    with stdout_to_stderr():
        wp = start_warp("auto")
    devices = [
        {
            "name": str(device),
            "description": device.name,
            "memory_bytes": int(device.total_memory) if device.is_cuda else None,
        }
        for device in wp.get_devices()
    ]
    return {
        "kind": "machine",
        "sapsim_version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "packages": versions,
        "devices": devices,
        "kernel_cache": wp.config.kernel_cache_dir,
    }


def _print(found: dict[str, Any]) -> None:
    """Keys and values, one a line; lists of objects as small tables."""
    for key, value in found.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            say(f"{key}:")
            for item in value:
                say("  " + "  ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in item.items()))
        elif isinstance(value, dict):
            say(f"{key}: " + ", ".join(f"{k} {v}" for k, v in value.items()))
        elif isinstance(value, float):
            say(f"{key}: {value:.9g}")
        else:
            say(f"{key}: {value if value != [] else 'none'}")
