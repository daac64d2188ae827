"""The page in a real browser: searched, filtered, opened, stepped through, reloaded, printed."""

import re
import time

import pytest
from tests.report.browser import COLLIDING, LOW_CONTRAST
from tests.report.rows import hostile_rows, kept_rows, many_rows

from paritylab.claims.coverage import claims_of, statements
from paritylab.report import write_report

SHOWN = "details.claim:visible"


@pytest.fixture
def page(tab, report_address):
    """The page of the kept rows."""
    return tab(report_address)


def ids(page):
    return page.locator(SHOWN).evaluate_all("all => all.map(card => card.dataset.id)")


def opened(page):
    return page.locator("details.claim[open]").evaluate_all("all => all.map(c => c.dataset.id)")


def wanted(**facts):
    return [row["id"] for row in kept_rows() if all(row[k] == v for k, v in facts.items())]


def choose(page, box, option):
    page.get_by_role("combobox", name=box).select_option(option)


def press(page, button):
    page.get_by_role("button", name=button).click()


def search(page, words):
    """The ids that are left, the most fitting first."""
    page.get_by_role("searchbox", name="Search").fill(words)
    return ids(page)


def step(page, id, by):
    """Follow previous, next or back to the table in a card."""
    page.locator(f'[data-id="{id}"] [data-step="{by}"]').first.click()


def open_card(page, id):
    page.locator(f'[data-id="{id}"] > summary').click()
    return page.locator(f'[data-id="{id}"]')


def test_a_reader_searches_filters_and_clears(page):
    assert ids(page) == wanted()
    found = search(page, "theorem 11")
    assert "hg1-thm11" in found
    assert len(found) < len(kept_rows())
    count = page.locator("#ui-count").inner_text()
    assert count == f"{len(found)} of {len(kept_rows())} claims"
    assert search(page, "hg1-thm5")[0] == "hg1-thm5"
    assert {*search(page, "theorem 5")[:2]} == {"hg1-thm5", "ks-thm5"}
    assert any(id.startswith("ks-") for id in search(page, "chain of thought"))
    assert not search(page, "zebra")
    assert page.get_by_text("No claim fits").is_visible()
    press(page, "Clear")
    choose(page, "Verdict", "refuted")
    choose(page, "Evidence", "exact")
    choose(page, "Paper", "hg1")
    assert ids(page) == wanted(status="refuted", evidence="exact", paper="hg1")


def test_the_table_is_sorted_up_and_down_and_as_before(page):
    rows = kept_rows()
    rising = sorted(rows, key=lambda row: row["seconds"])
    falling = sorted(rows, key=lambda row: -row["seconds"])  # ties stay in the page's order
    for order in (rising, falling, rows):
        press(page, "time")
        assert ids(page) == [row["id"] for row in order]


def test_tiles_stand_in_the_order_of_the_text(page):
    for paper in ("hg1", "ks"):
        mine = wanted(paper=paper)
        text = [id for id in claims_of(statements(paper)) if id in mine]
        links = page.locator(".tile").evaluate_all("all => all.map(t => t.hash.slice(1))")
        assert [id for id in links if id in mine][: len(text)] == text


def test_cards_open_close_and_lead_on_in_the_order_shown(page):
    choose(page, "Verdict", "refuted")
    press(page, "id, place")
    first, second, *_ = ids(page)
    steps = open_card(page, first).locator(".steps").first
    assert steps.locator("a:visible").all_inner_texts() == ["next →", "to the table"]
    step(page, first, 1)
    assert opened(page) == [second]
    assert page.evaluate("document.activeElement.parentElement.dataset.id") == second
    step(page, second, -1)
    assert opened(page) == [first]
    step(page, first, 0)
    assert opened(page) == []
    press(page, "Open all")
    assert opened(page) == ids(page)
    press(page, "Close all")
    assert opened(page) == []


def test_the_address_keeps_the_state(page, report_address):
    search(page, "risk")
    choose(page, "Verdict", "corrected")
    press(page, "runs")
    before = ids(page)
    open_card(page, before[1])
    page.wait_for_function("location.hash.includes('open=')")
    page.reload()
    assert ids(page) == before
    assert opened(page) == [before[1]]
    assert page.get_by_role("searchbox", name="Search").input_value() == "risk"
    page.goto(report_address + "#tab=errata")
    assert page.get_by_role("heading", name="Errata").is_visible()
    assert ids(page) == []
    page.get_by_role("link", name="hg1-remark12").click()
    assert "hg1-remark12" in opened(page)
    page.goto(report_address + "#nonsense=%ZZ&status=none&tab=none")
    assert ids(page) == wanted()


def test_back_leads_out_of_a_tab_and_out_of_a_card(page):
    page.locator(".tabs a", has_text="Errata").click()
    page.locator("#ui-errata").wait_for(state="visible")
    page.go_back()
    page.locator("#ui-claims").wait_for(state="visible")
    page.locator(".tile").first.click()
    page.locator("details.claim[open]").wait_for()
    page.go_back()
    page.locator("details.claim[open]").wait_for(state="hidden")


def test_everything_is_reached_with_the_keyboard_in_order(page):
    choose(page, "Verdict", "refuted")
    first = wanted(status="refuted")[0]
    page.locator(f'[data-id="{first}"] > summary').press("Enter")
    assert opened(page) == [first]
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


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_everything_is_legible_on_a_phone_and_a_desk(tab, report_address, width, scheme):
    page = tab(report_address, width, color_scheme=scheme)
    box = page.locator("#ui-search").bounding_box()
    assert box["y"] + box["height"] < 800
    press(page, "Open all")
    page.evaluate("for (const more of document.querySelectorAll('details.more')) more.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(LOW_CONTRAST) == []
    assert page.evaluate(COLLIDING) == []
    small = "all => Math.min(...all.map(t => t.getBoundingClientRect().height))"
    assert page.locator("svg.fig text:visible").evaluate_all(small) > 10
    page.goto(report_address + "#tab=errata")
    assert page.evaluate(LOW_CONTRAST) == []


def test_hostile_strings_stay_inert(tab, tmp_path):
    rows = hostile_rows()
    page = tab(write_report(rows, tmp_path).as_uri())
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, object, [onerror], [onload]").count() == 0
    assert len(ids(page)) == len(rows)
    press(page, "Open all")
    assert page.get_by_text("{{7*7}}").first.is_visible()
    step(page, rows[0]["id"].replace('"', '\\"'), 1)
    assert len(search(page, rows[0]["title"])) == len(rows)
    page.reload()
    assert len(ids(page)) == len(rows)
    page.wait_for_timeout(100)


def test_it_reads_without_scripts(tab, report_address):
    page = tab(report_address + "#hg1-thm11", java_script_enabled=False)
    assert not page.locator("#ui-search").is_visible()
    card = page.locator('[data-id="hg1-mask"]')
    assert not card.locator("article").is_visible()
    card.locator("> summary").click()
    assert card.get_by_text("What does hold").is_visible()
    assert page.get_by_role("heading", name="Errata").is_visible()


def test_a_counterexample_is_copied_and_a_figure_saved_with_its_colours(tab, report_address):
    page = tab(report_address, permissions=["clipboard-read", "clipboard-write"])
    rows = kept_rows()
    code = next(row["counterexample"] for row in rows if row["id"] == "hg1-thm11")
    open_card(page, "hg1-thm11").locator(".copy").first.click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == code
    drawn = next(row["id"] for row in rows if row["series"].get("kind") == "lines")
    card = open_card(page, drawn)
    with page.expect_download() as waiting:
        card.get_by_role("button", name="SVG").click()
    assert waiting.value.suggested_filename == f"{drawn}.svg"
    text = waiting.value.path().read_text()
    assert text.startswith("<svg")
    assert "var(--" not in text


def test_ninety_claims_are_ready_soon_low_and_print_short(tab, tmp_path):
    file = write_report(many_rows(90), tmp_path)
    assert file.stat().st_size < 2_000_000
    start = time.perf_counter()
    page = tab(file.as_uri())
    page.locator("#ui-count").wait_for()
    seconds = time.perf_counter() - start
    # 8,000 for ninety claims, and 400 for the findings that the page opens with.
    assert page.evaluate("document.documentElement.scrollHeight") <= 8400
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 30
    assert seconds < 5  # usually well below 1; other tests may run at the same time
