"""A command line inside the test's own process."""

import re

import pytest

from paritylab.cli import main


def run(capsys, *arguments):
    """Exit code, standard output and standard error of `paritylab` with these arguments."""
    with pytest.raises(SystemExit) as stopped:
        main([str(each) for each in arguments])
    return stopped.value.code, *capsys.readouterr()


def refused(capsys, *arguments):
    """The one line of a refusal, which is short and which a terminal does not obey."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, ""), err
    *remarks, line = err.splitlines()
    assert all(re.fullmatch("loading|.* at work for .* s", each) for each in remarks)
    assert line.startswith("paritylab: ")
    assert "\x1b" not in line
    assert len(line) < 400
    return line
