"""The page in a real browser: searched, filtered, opened, stepped through, reloaded, printed."""

import pytest
from tests.report.browser import COLLIDING, LOW_CONTRAST, browser
from tests.report.rows import hostile_rows, kept_rows

from paritylab.report import write_report

SHOWN = "details.claim:visible"


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return write_report(kept_rows(), tmp_path_factory.mktemp("page")).as_uri()


@pytest.fixture
def tab(chromium):
    """Opens an address; at the end nothing was logged as an error and nothing was requested."""
    contexts, errors, requests = [], [], []

    def open_tab(address, width=1280, **options):
        context = chromium.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert errors == []
    assert all(
        url.startswith("blob:null/")  # what the page itself offers to save
        or (url.startswith("file:") and url.partition("#")[0].endswith("index.html"))
        for url in requests
    )


def ids(page):
    return page.locator(SHOWN).evaluate_all("all => all.map(card => card.dataset.id)")


def is_open(page, id):
    return page.locator(f'details.claim[data-id="{id}"]').evaluate("card => card.open")


def wanted(**facts):
    return [row["id"] for row in kept_rows() if all(row[k] == v for k, v in facts.items())]


def test_a_reader_searches_filters_and_clears(tab, address):
    page = tab(address)
    assert ids(page) == wanted()
    page.get_by_role("searchbox", name="Search").press_sequentially("theorem 11")
    assert "hg1-thm11" in ids(page)
    assert 0 < len(ids(page)) < len(kept_rows())
    assert (
        page.locator("#ui-count").inner_text() == f"{len(ids(page))} of {len(kept_rows())} claims"
    )
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("combobox", name="Verdict").select_option("refuted")
    assert ids(page) == wanted(status="refuted")
    page.get_by_role("combobox", name="Evidence").select_option("exact")
    page.get_by_role("combobox", name="Paper").select_option("hg1")
    assert ids(page) == wanted(status="refuted", evidence="exact", paper="hg1")
    page.get_by_role("searchbox", name="Search").fill("no such words")
    assert page.get_by_text("No claim fits").is_visible()


def test_the_table_is_sorted_up_and_down(tab, address):
    page, rows = tab(address), kept_rows()
    page.get_by_role("button", name="time").click()
    rising = sorted(rows, key=lambda row: row["seconds"])
    assert ids(page) == [row["id"] for row in rising]
    page.get_by_role("button", name="time").click()
    falling = sorted(rows, key=lambda row: -row["seconds"])  # ties stay in the page's order
    assert ids(page) == [row["id"] for row in falling]
    page.get_by_role("button", name="time").click()
    assert ids(page) == wanted()


def test_cards_open_close_and_lead_on_in_the_order_shown(tab, address):
    page = tab(address)
    page.get_by_role("combobox", name="Verdict").select_option("refuted")
    first, second, *_ = wanted(status="refuted")
    page.locator(f'[data-id="{first}"] > summary').click()
    assert is_open(page, first)
    page.locator(f'[data-id="{first}"] [data-step="1"]').first.click()
    assert not is_open(page, first)
    assert is_open(page, second)
    assert page.evaluate("document.activeElement.parentElement.dataset.id") == second
    page.locator(f'[data-id="{second}"] [data-step="-1"]').first.click()
    assert is_open(page, first)
    page.locator(f'[data-id="{first}"] [data-step="0"]').first.click()
    assert not is_open(page, first)
    page.get_by_role("button", name="id, place").click()
    shown = ids(page)
    page.locator(f'[data-id="{shown[0]}"] > summary').click()
    steps = page.locator(f'[data-id="{shown[0]}"] .steps').first
    assert steps.locator("a:visible").all_inner_texts() == ["next →", "to the table"]
    steps.get_by_text("next").click()
    assert is_open(page, shown[1])
    page.locator(f'[data-id="{shown[1]}"] [data-step="0"]').first.click()
    page.get_by_role("button", name="Open all").click()
    assert all(is_open(page, id) for id in wanted(status="refuted"))
    page.get_by_role("button", name="Close all").click()
    assert not any(is_open(page, id) for id in wanted(status="refuted"))


def test_the_address_keeps_the_state(tab, address):
    page = tab(address)
    page.get_by_role("searchbox", name="Search").fill("risk")
    page.get_by_role("combobox", name="Verdict").select_option("corrected")
    page.get_by_role("button", name="runs").click()
    before = ids(page)
    page.locator(f'[data-id="{before[1]}"] > summary').click()
    page.wait_for_function("location.hash.includes('open=')")
    page.reload()
    assert ids(page) == before
    assert is_open(page, before[1])
    assert page.get_by_role("searchbox", name="Search").input_value() == "risk"
    page.goto(address + "#tab=errata")
    assert page.get_by_role("heading", name="Errata").is_visible()
    assert page.locator(SHOWN).count() == 0
    page.get_by_role("link", name="hg1-remark12").click()
    assert is_open(page, "hg1-remark12")
    page.goto(address + "#nonsense=%ZZ&status=none&tab=none")
    assert ids(page) == wanted()


def test_everything_is_reached_with_the_keyboard_in_order(tab, address):
    page = tab(address)
    page.get_by_role("combobox", name="Verdict").select_option("refuted")
    first = wanted(status="refuted")[0]
    page.locator(f'[data-id="{first}"] > summary').press("Enter")
    assert is_open(page, first)
    count = page.evaluate(
        """() => { window.all = [...document.querySelectorAll(
        'a[href], button, input, select, summary, [tabindex="0"]')]
        .filter(each => each.checkVisibility());
        return all.length; }"""
    )
    page.locator(".skip").focus()
    order = [0]
    for _ in range(count - 1):
        page.keyboard.press("Tab")
        order.append(page.evaluate("all.indexOf(document.activeElement)"))
    assert order == list(range(count))
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "ui-search"


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_nothing_overflows_and_no_words_of_figures_collide(tab, address, width):
    page = tab(address, width)
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) <= width
    page.get_by_role("button", name="Open all").click()
    page.evaluate("for (const more of document.querySelectorAll('details.more')) more.open = true")
    assert page.evaluate(wide) <= width
    assert page.evaluate(COLLIDING) == []
    small = "all => Math.min(...all.map(t => t.getBoundingClientRect().height))"
    assert page.locator("svg.fig text:visible").evaluate_all(small) > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_background(tab, address, scheme):
    page = tab(address, color_scheme=scheme)
    page.get_by_role("button", name="Open all").click()
    assert page.evaluate(LOW_CONTRAST) == []
    page.goto(address + "#tab=errata")
    assert page.evaluate(LOW_CONTRAST) == []


def test_hostile_strings_stay_inert(tab, tmp_path):
    rows = hostile_rows()
    page = tab(write_report(rows, tmp_path).as_uri())
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, object, [onerror], [onload]").count() == 0
    assert page.locator("details.claim").count() == len(rows)
    page.get_by_role("button", name="Open all").click()
    page.locator("[data-step='1']").first.click()
    page.get_by_role("searchbox", name="Search").fill(rows[0]["title"])
    assert page.locator(SHOWN).count() == len(rows)
    page.reload()
    assert page.locator(SHOWN).count() == len(rows)
    page.wait_for_timeout(100)


def test_it_reads_without_scripts(tab, address):
    page = tab(address + "#hg1-thm11", java_script_enabled=False)
    assert not page.locator("#ui-search").is_visible()
    card = page.locator('[data-id="hg1-mask"]')
    assert not card.locator("article").is_visible()
    card.locator("> summary").click()
    assert card.get_by_text("What does hold").is_visible()
    assert page.get_by_role("heading", name="Errata").is_visible()


def test_a_figure_is_saved_with_its_colours(tab, address, tmp_path):
    page = tab(address)
    row = next(row for row in kept_rows() if row["series"].get("kind") == "lines")
    card = page.locator(f'[data-id="{row["id"]}"]')
    card.locator("> summary").click()
    with page.expect_download() as waiting:
        card.get_by_role("button", name="SVG").click()
    assert waiting.value.suggested_filename == f"{row['id']}.svg"
    waiting.value.save_as(tmp_path / "figure.svg")
    saved = (tmp_path / "figure.svg").read_text()
    assert "var(--" not in saved
    assert saved.startswith("<svg")


def test_back_leads_out_of_a_tab_and_out_of_a_card(tab, address):
    page = tab(address)
    page.locator(".tabs a", has_text="Errata").click()
    page.locator("#ui-errata").wait_for(state="visible")
    page.go_back()
    page.locator("#ui-claims").wait_for(state="visible")
    assert page.locator("#ui-errata").is_hidden()
    page.locator(".tile").first.click()
    page.locator("details.claim[open]").wait_for()
    page.go_back()
    page.locator("details.claim[open]").wait_for(state="hidden")
    assert page.locator("main").count() == 1
