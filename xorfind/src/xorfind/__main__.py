"""`python -m xorfind`."""

from xorfind.cli import main

main()
