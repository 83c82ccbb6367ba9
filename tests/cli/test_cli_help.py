"""Help is quick and imports nothing heavy; the public names come when they are asked for."""

import subprocess
import sys
import time

import pytest
from sapsim_process import environment, sapsim

HEAVY = ("warp", "trimesh", "h5py", "scipy", "numpy")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["check", "--help"],
        ["info", "--help"],
        ["validate", "--help"],
        ["schema", "--help"],
        ["bench", "--help"],
    ],
)
def test_help_imports_nothing_heavy(arguments):
    code = f"""
import sys
from sapsim.cli.main import main
try:
    main({arguments!r})
except SystemExit as left:
    print("code", left.code)
print("heavy", [name for name in {HEAVY!r} if name in sys.modules])
"""
    out = python(code)
    assert "code 0" in out and "heavy []" in out and "Example: sapsim" in out


def test_help_is_quick(tmp_path):
    """Under half a second; the best of three, since other processes may run beside."""
    times = []
    for _ in range(3):
        began = time.monotonic()
        assert sapsim(tmp_path, "--help").code == 0
        times.append(time.monotonic() - began)
    assert min(times) < 0.5


def test_import_is_cheap_and_names_are_there():
    out = python(f"import sys, sapsim; print([n for n in {(*HEAVY, 'typer', 'yaml')!r} if n in sys.modules])")
    assert out.strip() == "[]"
    out = python("import sapsim; print(sapsim.load.__name__, sapsim.build.__name__, sapsim.open_run.__name__, dir(sapsim))")
    assert out.startswith("load build open_run ['Simulation', '__version__', 'build', 'load', 'open_run']")


def test_version(tmp_path):
    done = sapsim(tmp_path, "--version")
    assert done.code == 0 and done.out.startswith("sapsim ") and done.err == ""


def test_without_a_command_help_is_shown(tmp_path):
    done = sapsim(tmp_path)
    assert done.code == 2 and "Usage: sapsim" in done.out + done.err


def test_every_option_of_the_contract_is_offered(tmp_path):
    out = sapsim(tmp_path, "run", "--help").out
    for option in (
        "-o --steps --duration --time-step --worlds --device --precision --set --seed --every --package --allow --check "
        "--strict --overwrite --resume --quiet --json --dry-run --traceback"
    ).split():
        assert option in out, option
    out = sapsim(tmp_path, "validate", "--help").out
    for option in "--base --samples --seed --precision --tolerance --against --json --traceback".split():
        assert option in out, option
    out = sapsim(tmp_path, "--help").out
    assert "validate" in out and "schema" in out and "bench" in out
    out = sapsim(tmp_path, "bench", "--help").out
    for option in "--time-step --law --worlds --steps --device --precision --peers --json --traceback".split():
        assert option in out, option
