"""Other libraries to compare with (`--against NAME`), one to a file, which defines `compare` (validate/base.py)."""
