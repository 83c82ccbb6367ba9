"""Other engines, one to a file, which defines `Engine` (bench/engine.py) and imports its library when it is made."""
