"""`python -m sapsim`."""

from sapsim.cli.main import main

if __name__ == "__main__":
    main()
