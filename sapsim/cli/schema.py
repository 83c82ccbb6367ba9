"""`sapsim schema`: the JSON Schema of the scene file."""

import json

from .messages import say
from .options import Traceback

HELP = """Print the JSON Schema (draft 2020-12) of the scene file, for editors and checkers.

Example: sapsim schema > scene.schema.json
"""


def command(traceback: Traceback = False) -> int:
    """One object on stdout, indented."""
    from sapsim.scene.schema import schema

    say(json.dumps(schema(), indent=2, allow_nan=False))
    return 0
