"""The live page in an installed browser: offline, by hand, by key, from an address, from a file."""

import json
import re
import time

import pytest

from paritylab import Heads, Parity, Population, learn
from paritylab.report.live.page import write_live_page
from paritylab.report.live.runs import run_facts

PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
DEMOS = ("heads", "xor", "chain")
STILL = {"reduced_motion": "reduce"}


@pytest.fixture
def visit(tab, live_address):
    """visit(hash, …): the page with all demos drawn."""

    def load(hash="", address=live_address, **options):
        page = tab(address + hash, **options)
        for demo in DEMOS:
            page.wait_for_selector(f"#{demo}[data-ready]")
        return page

    return load


def until(happened, seconds=20):
    """Wait until a condition holds; the page's own policy forbids waiting inside it."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.03)


def said(page, demo):
    return page.inner_text(f"#{demo} .said")


def press(page, demo, button):
    page.locator(f"#{demo}").get_by_role("button", name=button, exact=True).click()


def enter(page, demo, box, text):
    """Type into a box of a demo; what it complains of."""
    field = page.locator(f"#{demo}").get_by_role("textbox", name=box)
    field.fill(text)
    field.press("Enter")
    return " ".join(page.locator(f"#{demo} .complaint").all_inner_texts())


def python_of(page, demo):
    """The runs of the program that stands below a demo; it brings its own imports."""
    names: dict = {}
    exec(page.inner_text(f"#{demo} .python"), names)
    return names["runs"]


def test_pictures_and_controls_have_names_that_can_be_read_aloud(visit):
    page = visit()
    assert page.locator("svg").count() >= 9
    unnamed = "nodes => nodes.filter(n => !(n.getAttribute('aria-label') ?? '').trim()).length"
    assert page.eval_on_selector_all("svg", unnamed) == 0
    unlabelled = "nodes => nodes.filter(n => !n.labels?.length && !n.ariaLabel).length"
    assert page.eval_on_selector_all("input, select", unlabelled) == 0


def test_play_step_scrub_and_keys(visit):
    page = visit("#heads.n=8&heads.hidden=1,5")
    press(page, "heads", "Rewind")
    assert said(page, "heads").startswith("Step 0:")
    press(page, "heads", "Step")
    assert said(page, "heads").startswith("Step 10:")
    assert "heads.moment=1" in page.url
    page.get_by_label("Heads: moment").fill("75")
    assert said(page, "heads").startswith("Step 750:")
    press(page, "heads", "Play")
    press(page, "heads", "Pause")
    # Position 1 is freed and 2 hidden with the keys alone, 7 with the mouse.
    for *keys, hidden in ((*2 * ["ArrowRight"], "Enter", "5"), (*3 * ["ArrowRight"], " ", "2,5")):
        for key in keys:
            page.locator("#heads .circle").press(key)
        until(lambda hidden=hidden: f"hidden={hidden}" in page.url)
    page.locator("#heads .spot").nth(7).click()
    until(lambda: "hidden=2,5,7" in page.url)


def test_an_address_reproduces_the_view_and_is_copied(visit):
    asked = (
        "#heads.n=12&heads.hidden=3,9&heads.procedure=paper&heads.tau=1/n^2&heads.start=hidden"
        "&heads.seed=5&heads.run=2&xor.kind=linear&xor.gain=5&chain.method=levels&chain.k=4"
    )
    page = visit(asked, permissions=["clipboard-read", "clipboard-write"])
    first = [said(page, demo) for demo in DEMOS]
    assert "risk 0," in first[0]
    assert "wrong on some input" in first[1]
    assert "levels solved after each step: 0, 1, 2" in first[2]
    press(page, "heads", "Copy link")
    until(lambda: page.evaluate("navigator.clipboard.readText()") == page.url)
    shown = page.url.partition("#")[2]
    assert {*shown.split("&")} == {*asked[1:].split("&")}
    assert [said(visit(f"#{shown}"), demo) for demo in DEMOS] == first


def test_a_hostile_address_shows_the_usual_view(visit):
    page = visit(
        "#heads.n=1e9&heads.hidden=<img src=x onerror=alert(1)>&heads.procedure=__proto__"
        "&heads.tau=nan&xor.n=-4&xor.gain=Infinity&xor.pair=7&chain.k=3&chain.logN=99&x&=&%"
    )
    assert "heads point at 2, 7, 12" in said(page, "heads")
    assert page.locator("img").count() == 0


@pytest.mark.parametrize(
    ("view", "demo"),
    [
        ("#heads.n=14&heads.hidden=0,5,6&heads.seed=3&heads.run=8&heads.tau=0.5", "heads"),
        ("#xor.kind=biased&xor.gain=20&xor.seed=4&xor.positions=signs", "xor"),
        ("#chain.n=12&chain.k=4&chain.logN=12&chain.seed=2", "chain"),
        ("#chain.method=levels&chain.n=12&chain.k=4&chain.seed=1", "chain"),
    ],
)
def test_every_scene_has_its_line_of_python(visit, view, demo):
    page = visit(view)
    runs, text = python_of(page, demo), said(page, demo)
    if demo == "heads":
        points = re.search(r"point at ([\d, ]+) \(", text)[1]
        assert runs.subset == [tuple(map(int, points.split(", ")))]
    elif demo == "xor":
        shown = float(re.search(r"inputs is (?:at most )?([\d.]+)", text)[1])
        assert runs.stats["worst"][0] == pytest.approx(shown, rel=6e-3)
    else:
        digits, power = re.search(r"= ([\d.]*\d)(?:·10⁻(\w+))?", text).groups()
        loss = float(digits) * 10.0 ** -int((power or "⁰").translate(PLAIN))
        assert runs.risk[0] == pytest.approx(loss, rel=0.1)  # other inputs are judged there


def test_something_moves_above_the_fold_and_can_be_stopped(visit):
    page = visit()
    box = page.locator("#landscape canvas").bounding_box()
    assert box["y"] + box["height"] < 800
    until(lambda: re.match(r"Step [1-9]\d* of", said(page, "landscape")))
    press(page, "landscape", "Pause")
    seen = "document.querySelector('#landscape canvas').ariaLabel"
    label = page.evaluate(seen)
    page.wait_for_timeout(200)
    assert page.evaluate(seen) == label
    press(page, "landscape", "Play")
    until(lambda: page.evaluate(seen) != label)


def test_the_landscape_counts_what_its_python_counts(visit):
    page = visit("#land.readout=cos&land.tau=0.5", **STILL)
    page.wait_for_selector("#landscape[data-ready]", timeout=60_000)
    found = re.search(r"in (\d+) of 400", said(page, "landscape"))
    assert int(found[1]) == python_of(page, "landscape").recovered.sum()


def test_a_reader_types_a_link_and_gets_a_rate(visit):
    page = visit("#own.n=6&own.hidden=1,4&own.steps=80")
    for wrong, words in (("cos(", "too early"), ("zeta(s)", "unknown word zeta"), ("1", "depend")):
        assert words in enter(page, "own", "readout h(s)", wrong)
    enter(page, "own", "readout h(s)", "cos(pi*s)")
    until(lambda: "own.readout=" in page.url)
    page.locator("#own").get_by_role("combobox", name="loss").select_option("own")
    enter(page, "own", "temperature", "(1/n)^t")
    press(page, "own", "Run 100")
    page.wait_for_selector("#own[data-done]", timeout=60_000)
    count = re.search(r"in (\d+) of 100: \d+ % \[[\d.]+, [\d.]+\]", said(page, "own"))[1]
    assert int(count) == python_of(page, "own").recovered.sum()


def test_it_is_still_for_who_asks_narrow_and_dark(visit):
    page = visit(width=390, color_scheme="dark", **STILL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground))) < 60
    press(page, "heads", "Rewind")
    press(page, "heads", "Play")
    assert said(page, "heads").startswith("End, step 1500")


def test_chains_break_where_they_should(visit):
    page = visit("#chain.logN=6&chain.n=16")
    found, nodes = map(int, re.search(r"(\d+) of (\d+) nodes found", said(page, "chain")).groups())
    assert found < nodes
    assert page.locator("#chain .edge:not(.own)").count() > 0


def test_a_run_goes_out_as_json_and_comes_back(visit, tmp_path):
    page = visit("#heads.n=8&heads.hidden=1,5")
    for demo, name in (("heads", "directions"), ("chain", "scores")):
        with page.expect_download() as waiting:
            press(page, demo, "Download this run")
        waiting.value.save_as(tmp_path / "run.json")
        run = json.loads((tmp_path / "run.json").read_text())
        assert len(run[name]) == len(run["step"])
        page.set_input_files("#replay input[type=file]", tmp_path / "run.json")
        page.wait_for_selector("#replay svg")
        assert page.inner_text("#replay .complaint") == ""
    for text in ("{", '{"format": "other"}', json.dumps({**run, "step": "x"})):
        (tmp_path / "bad.json").write_text(text)
        page.set_input_files("#replay input[type=file]", tmp_path / "bad.json")
        until(lambda: "bad.json cannot be shown" in page.inner_text("#replay .complaint"))


def test_a_run_of_python_replays(visit, tmp_path):
    runs = learn(Heads.annealed(), Population(Parity(12, (2, 7))), runs=1, trace=100)
    page = visit(address=write_live_page(tmp_path / "page.html", run_facts(runs)).as_uri())
    assert "heads, n = 12; hidden 2, 7" in page.inner_text("#replay .rate")
    assert said(page, "replay").startswith("Step 1400")
    assert page.locator("#replay .arrow").count() == 2
