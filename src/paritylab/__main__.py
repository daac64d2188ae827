"""`python -m paritylab` is the command line."""

from paritylab.cli import main

if __name__ == "__main__":
    main()
