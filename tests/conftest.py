"""Strict arithmetic: shapes and types checked, no rank promotion, x64 both off and on."""

import atexit
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# Nothing is stored in the data folder of whoever runs the tests.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="paritylab-data-")
atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)
# Before jax is imported: compiled code is kept between runs and shared by the worker processes.
COMPILED = Path(__file__).resolve().parents[1] / ".pytest_cache" / "compiled"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
# Most of a test is compiling: more than half of it is saved by compiling less well.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

import jax  # noqa: E402
import pytest  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402
from tests.report.browser import NO_BROWSER, installed  # noqa: E402

# Not problem.parity and the learners: they check what users pass, with messages of their own.
CHECKED = ("models", "theory", "risk", "problem.sampling", "problem.losses", "learning.xor.exact")
install_import_hook([f"paritylab.{room}" for room in CHECKED], "beartype.beartype")

NUMERIC_ROOMS = {"problem", "models", "theory", "risk", "learning"}


def pytest_generate_tests(metafunc):
    """Tests of the numeric rooms run with x64 off and on, unless a module narrows X64_MODES."""
    if "x64" in metafunc.fixturenames:
        room = Path(metafunc.definition.path).parent.name
        modes = [False, True] if room in NUMERIC_ROOMS else [False]
        modes = getattr(metafunc.module, "X64_MODES", modes)
        metafunc.parametrize("x64", modes, indirect=True, ids=lambda on: "x64" if on else "x32")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Workers take file after file; of the dearest one, that of all claims, claim after claim.

    The tests of a claim run the same programs, so they stay together. Files with many tests come
    first, as is usual for xdist, so the claims come last and both workers end at about one time.
    """
    from xdist.scheduler import LoadFileScheduling

    class FilesAndClaims(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file, _, test = nodeid.partition("::")
            if file != "tests/claims/test_claims.py" or "[" not in test:
                return file
            return test.partition("[")[2].rstrip("]").split("/")[0]

    return FilesAndClaims(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the cases of a test marked grid(keep) as many run by default, spread evenly; all of them
    run with make test-slow."""
    grids = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("grid"):
            grids[item.nodeid.split("[")[0], marker.args[0]].append(item)
    for (_, keep), cases in grids.items():
        kept = {round(i * len(cases) / keep) for i in range(keep)}
        for number, case in enumerate(cases):
            if number not in kept:
                case.add_marker(pytest.mark.slow)


def _without_browser(reporter):
    """How many tests were skipped for want of a browser."""
    reasons = [str(report.longrepr) for report in reporter.getreports("skipped")]
    return sum(NO_BROWSER in reason for reason in reasons)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """A browser test that was skipped where a Chromium is installed fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and _without_browser(reporter) and installed():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Say in one line, below everything else, what was not seen in a browser."""
    yield
    if skipped := _without_browser(terminalreporter):
        terminalreporter.write_line(
            f"{skipped} browser tests were SKIPPED; to run them: apt-get install chromium, "
            "or python -m playwright install chromium"
        )


@pytest.fixture(autouse=True)
def x64(request):
    with jax.enable_x64(request.param), jax.numpy_rank_promotion("raise"):
        yield request.param


@pytest.fixture(scope="module", autouse=True)
def fresh_caches():
    """Compiled code of finished modules is dropped: thousands of shapes exhaust memory maps."""
    yield
    jax.clear_caches()


@pytest.fixture(scope="module")
def compiled_as_for_users():
    """For modules that train more than they compile: XLA optimises as it does for users."""
    before = jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture
def elsewhere(tmp_path, tmp_path_factory, monkeypatch):
    """An empty working folder and an empty data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    monkeypatch.delenv("PARITYLAB_STORE", raising=False)
    return tmp_path


@pytest.fixture
def interruptible():
    """The command line in a process that heeds Ctrl-C even if the test run was told to ignore it,
    as jobs in the background of a shell are."""
    listen = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    run = "from paritylab.cli import main; main()"
    return [sys.executable, "-c", listen + run]
