"""The page's engine, run by node and by an installed browser: same cases, same answers."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.browser import browser

from paritylab.report.live.page import FOLDER, live_page

NODE = shutil.which("node")
HARNESS = Path(__file__).with_name("engine_cases.mjs")


def by_node(name: str, cases: list[Any]) -> list[Any]:
    """Answers of the modules as they stand in the repository."""
    done = subprocess.run(
        [str(NODE), str(HARNESS), str(FOLDER / "engine")],
        input=json.dumps({name: cases}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[name]


def by_page(page: Any, name: str, cases: list[Any]) -> list[Any]:
    """Answers of the engine inside the built page."""
    source = HARNESS.read_text().split("// ---- in node")[0].replace("export ", "")
    code = (
        f"([name, cases]) => {{ {source}; const modules = "
        "NAMES.map((each) => globalThis.paritylab[`engine_${each}`]);"
        "return JSON.stringify(cases.map(answersOf(modules)[name])); }"
    )
    return json.loads(page.evaluate(code, [name, cases]))


@contextmanager
def opened() -> Iterator[Callable[[str, list[Any]], list[Any]]]:
    """ask(name, cases) of node and of the browser, whichever are there; both must agree."""
    asked: list[Callable[[str, list[Any]], list[Any]]] = [] if NODE is None else [by_node]
    try:
        with browser() as chromium:
            page = chromium.new_page()
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "live.html"
                file.write_text(live_page(), encoding="utf-8")
                page.goto(file.as_uri())
            asked.append(lambda name, cases: by_page(page, name, cases))
            yield lambda name, cases: _agreed(asked, name, json.loads(json.dumps(cases)))
    except pytest.skip.Exception:
        if not asked:
            pytest.skip("NO BROWSER AND NO NODE: the live page's engine is NOT tested")
        yield lambda name, cases: _agreed(asked, name, json.loads(json.dumps(cases)))


def _agreed(asked: list[Any], name: str, cases: list[Any]) -> list[Any]:
    answers = [ask(name, cases) for ask in asked]
    for other in answers[1:]:
        assert_same(other, answers[0])
    return answers[0]


def assert_same(one: Any, two: Any) -> None:
    """Equal but for the last places of numbers."""
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            assert_same(one[key], two[key])
    elif isinstance(one, list) and one and not isinstance(one[0], list | dict | str | bool):
        np.testing.assert_allclose(
            np.array(one, dtype=float), np.array(two, dtype=float), rtol=1e-9, atol=1e-12
        )
    elif isinstance(one, list):
        assert len(one) == len(two)
        for first, second in zip(one, two, strict=True):
            assert_same(first, second)
    elif isinstance(one, float):
        assert one == pytest.approx(two, rel=1e-9, abs=1e-12)
    else:
        assert one == two
