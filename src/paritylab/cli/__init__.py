"""The command line; heavy libraries load only inside the commands that use them."""

from paritylab.cli.app import main

__all__ = ["main"]
