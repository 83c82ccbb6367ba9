"""Identities that the dynamics of a scene must satisfy: `validate(scene)` (report.py), one file to a check in `checks/`."""
