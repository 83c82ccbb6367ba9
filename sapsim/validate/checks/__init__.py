"""One check to a file; a file that defines CHECK is found by its place (validate/base.py)."""
