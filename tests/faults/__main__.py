"""python -m tests.faults [PART ...] [--share 0.1]: kept empty, since workers load the main file."""

from tests.faults.suite import main

main()
