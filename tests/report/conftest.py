"""One browser for the tests of a module, and the two pages that it opens from disk."""

import re

import pytest
from tests.report.browser import browser
from tests.report.rows import kept_rows

from paritylab.report import write_report
from paritylab.report.live.page import write_live_page

#: What a page may ask for: itself, and what it offers to save.
OWN = re.compile(r"blob:|file:[^#]*\.html(#|$)")


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def report_address(tmp_path_factory):
    return write_report(kept_rows(), tmp_path_factory.mktemp("report")).as_uri()


@pytest.fixture(scope="module")
def live_address(tmp_path_factory):
    return write_live_page(tmp_path_factory.mktemp("live") / "live.html").as_uri()


@pytest.fixture
def tab(chromium):
    """Opens an address; at the end no page has complained or asked for anything but itself."""
    contexts, troubles = [], []

    def load(address, width=1280, **options):
        context = chromium.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda said: troubles.append(said.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda asked: OWN.match(asked.url) or troubles.append(asked.url))
        page.goto(address)
        return page

    yield load
    for context in contexts:
        context.close()
    assert troubles == []
