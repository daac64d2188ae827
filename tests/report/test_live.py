"""The live page in an installed browser: offline, by hand, by key, from an address, from a file."""

import json
import os
import re
import time

import pytest
from tests.report.browser import browser

from paritylab import Annealed, Parity, Population, learn
from paritylab.report.live.page import live_page, write_live_page
from paritylab.report.live.runs import run_facts

PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
DEMOS = ("heads", "xor", "chain")


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("live") / "live.html"
    file.write_text(live_page(), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def visit(chromium, address):
    """visit(hash, …): the page with all demos drawn; every error and foreign request is fatal."""
    troubles, contexts = [], []

    def load(hash="", url=address, **options):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda said: troubles.append(said.text))
        page.on("request", lambda asked: troubles.append(asked.url) if _is_foreign(asked) else None)
        page.goto(url + hash)
        for demo in DEMOS:
            page.wait_for_selector(f"#{demo}[data-ready]")
        return page

    yield load
    for context in contexts:
        context.close()
    assert not troubles


def _is_foreign(request) -> bool:
    return not request.url.startswith(("file:", "blob:"))


def until(happened, seconds=20):
    """Wait until a condition holds; the page's own policy forbids waiting inside it."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.03)


def said(page, demo):
    return page.inner_text(f"#{demo} .said")


def test_it_reads_as_an_article_before_anything_is_touched(visit):
    page = visit()
    assert page.title() == "How attention finds hidden bits"
    assert len(page.inner_text("main").split()) > 700
    assert "exactly the hidden bits" in said(page, "heads")
    assert "right on every input" in said(page, "xor")
    assert "7 of 7 nodes found their children" in said(page, "chain")
    for demo in DEMOS:
        assert page.locator(f"#{demo} svg").count() >= 3
    # Every picture and every control has a name that can be read aloud.
    unnamed = "nodes => nodes.filter(n => !(n.getAttribute('aria-label') ?? '').trim()).length"
    assert page.eval_on_selector_all("svg", unnamed) == 0
    unlabelled = "nodes => nodes.filter(n => !n.labels?.length && !n.ariaLabel).length"
    assert page.eval_on_selector_all("input, select", unlabelled) == 0


def test_play_step_scrub_and_keys(visit):
    page = visit("#heads.n=8&heads.hidden=1,5")
    heads = page.locator("#heads")
    heads.get_by_role("button", name="Rewind").click()
    assert said(page, "heads").startswith("Step 0:")
    heads.get_by_role("button", name="Step", exact=True).click()
    assert said(page, "heads").startswith("Step 10:")
    assert "heads.moment=1" in page.url
    heads.get_by_label("Heads: moment").fill("75")
    assert said(page, "heads").startswith("Step 750:")
    heads.get_by_role("button", name="Play").click()
    heads.get_by_role("button", name="Pause").click()
    # Position 1 is freed and 2 hidden with the keys alone.
    circle = page.locator("#heads .circle")
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        circle.press(key)
    until(lambda: "hidden=5" in page.url)
    circle = page.locator("#heads .circle")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", " "):
        circle.press(key)
    until(lambda: "hidden=2,5" in page.url)
    page.locator("#heads .spot").nth(7).click()
    until(lambda: "hidden=2,5,7" in page.url)


def test_an_address_reproduces_the_view(visit):
    hash = (
        "#heads.n=12&heads.hidden=3,9&heads.procedure=paper&heads.tau=1/n^2&heads.start=hidden"
        "&heads.seed=5&heads.run=2&xor.kind=linear&xor.gain=5&chain.method=levels&chain.k=4"
    )
    page = visit(hash)
    first = [said(page, demo) for demo in DEMOS]
    assert "risk 0," in first[0]
    assert "wrong on some input" in first[1]
    assert "levels solved after each step: 0, 1, 2" in first[2]
    asked = set(hash[1:].split("&"))
    assert asked == set(page.url.split("#")[1].split("&"))
    assert [said(visit(f"#{page.url.split('#')[1]}"), demo) for demo in DEMOS] == first


def test_a_hostile_address_shows_the_usual_view(visit):
    hash = (
        "#heads.n=1e9&heads.hidden=<img src=x onerror=alert(1)>&heads.procedure=__proto__"
        "&heads.tau=nan&xor.n=-4&xor.gain=Infinity&xor.pair=7&chain.k=3&chain.logN=99&x&=&%"
    )
    page = visit(hash)
    assert "heads point at 2, 7, 12" in said(page, "heads")
    assert page.locator("img").count() == 0


def test_the_temperature_has_the_scale_one_over_n_squared(visit):
    page = visit("#heads.procedure=paper&heads.start=hidden")
    page.locator("#heads").get_by_role("button", name="Rewind").click()
    assert "largest attention 0.557" in said(page, "heads")
    tau = page.locator("#heads").get_by_role("textbox", name="temperature τ")
    tau.fill("nonsense")
    tau.press("Enter")
    assert "1/n^2" in page.inner_text("#heads .control .complaint >> nth=0")
    tau.fill("1/n^2")
    tau.press("Enter")
    until(lambda: said(page, "heads").startswith("End"))
    assert "risk 0, largest attention 1." in said(page, "heads")


@pytest.mark.slow
def test_run_100_fills_a_counter_with_its_interval(visit):
    page = visit("#heads.n=12&heads.hidden=2,7")
    page.get_by_role("button", name="Run 100").click()
    page.wait_for_selector("#heads .counter[data-done='100']", timeout=60_000)
    text = page.inner_text("#heads .rate")
    found = re.search(r"in (\d+) of 100: (\d+) % \[([\d.]+), ([\d.]+)\]", text)
    runs = learn(Annealed(), Population(Parity(12, (2, 7))), runs=100)
    assert int(found[1]) == runs.recovered.sum()
    rate = runs.rate()
    assert float(found[3]) == pytest.approx(100 * rate.low, abs=1)
    assert "annealed, n = 12, {2, 7}" in page.inner_text("#heads .past")


def python_of(page, demo):
    """What the program beside a demo computes; it brings its own imports."""
    names: dict = {}
    exec(page.inner_text(f"#{demo} .python"), names)
    return names["runs"]


def test_the_line_of_python_is_the_run_on_screen(visit):
    page = visit("#heads.n=14&heads.hidden=0,5,6&heads.seed=3&heads.run=8&heads.tau=0.5")
    runs = python_of(page, "heads")
    points = re.search(r"point at ([\d, ]+) \(", said(page, "heads")).group(1)
    assert runs.subset == [tuple(map(int, points.split(", ")))]


@pytest.mark.parametrize(
    ("view", "demo"),
    [
        ("#xor.kind=linear&xor.seed=4&xor.positions=signs", "xor"),
        ("#xor.kind=biased&xor.gain=20", "xor"),
        ("#chain.n=12&chain.k=4&chain.logN=12&chain.seed=2", "chain"),
        ("#chain.method=levels&chain.n=12&chain.k=4&chain.seed=1", "chain"),
    ],
)
def test_every_scene_has_its_line_of_python(visit, view, demo):
    page = visit(view)
    runs = python_of(page, demo)
    text = said(page, demo)
    if demo == "xor":
        shown = float(re.search(r"inputs is (?:at most )?([\d.]+)", text)[1])
        assert runs.stats["worst"][0] == pytest.approx(shown, rel=6e-3)
    else:
        digits, power = re.search(r"= ([\d.]*\d)(?:·10⁻(\w+))?", text).groups()
        loss = float(digits) * 10.0 ** -int((power or "⁰").translate(PLAIN))
        assert runs.risk[0] == pytest.approx(loss, rel=0.1)  # other inputs are judged there


def test_heads_at_the_proved_minimum_stay(visit):
    page = visit("#heads.n=8&heads.hidden=0,3&heads.procedure=paper&heads.start=stuck")
    assert "heads point at 1, 6 (hidden are 0, 3); risk 1.81" in said(page, "heads")
    runs = python_of(page, "heads")
    assert runs.risk[0] == pytest.approx(1.81, abs=0.005)
    page = visit("#heads.n=9&heads.start=stuck")  # not what is proved
    assert page.locator("#heads select").nth(1).input_value() == "random"


def test_something_moves_above_the_fold_and_can_be_stopped(visit):
    page = visit(viewport={"width": 1280, "height": 800})
    box = page.locator("#landscape canvas").bounding_box()
    assert box["y"] + box["height"] < 800
    until(lambda: re.match(r"Step [1-9]\d* of", page.inner_text("#landscape .said")))
    page.locator("#landscape").get_by_role("button", name="Pause").click()
    seen = "document.querySelector('#landscape canvas').ariaLabel"
    label = page.evaluate(seen)
    page.wait_for_timeout(200)
    assert page.evaluate(seen) == label
    page.locator("#landscape").get_by_role("button", name="Play").click()
    until(lambda: page.evaluate(seen) != label)


def test_the_landscape_counts_what_its_python_counts(visit):
    page = visit("#land.readout=cos&land.tau=0.5", reduced_motion="reduce")
    page.wait_for_selector("#landscape[data-ready]", timeout=60_000)
    found = re.search(r"in (\d+) of 400", page.inner_text("#landscape .said"))
    runs = python_of(page, "landscape")
    assert int(found[1]) == runs.recovered.sum()
    assert "proof of the traps is for" in page.inner_text("#landscape")
    assert "Thick outline" not in page.inner_text("#landscape")


def test_a_reader_types_a_link_and_gets_a_rate(visit):
    page = visit("#own.n=6&own.hidden=1,4&own.steps=80")
    own = page.locator("#own")
    box = own.get_by_role("textbox", name="readout h(s)")
    for wrong, words in (
        ("cos(", "ends too early"),
        ("zeta(s)", "unknown word zeta"),
        ("1", "depend"),
    ):
        box.fill(wrong)
        box.press("Enter")
        assert words in own.locator(".complaint").first.inner_text()
    box.fill("cos(pi*s)")
    box.press("Enter")
    until(lambda: "own.readout=" in page.url)
    own.get_by_role("combobox", name="loss").select_option("own")
    own.get_by_label("temperature").fill("(1/n)^t")
    own.get_by_label("temperature").press("Enter")
    own.get_by_role("button", name="Run 100").click()
    page.wait_for_selector("#own[data-done]", timeout=60_000)
    counted = int(re.search(r"in (\d+) of 100: \d+ % \[", said(page, "own"))[1])
    runs = python_of(page, "own")
    assert counted == runs.recovered.sum()
    assert said(visit(f"#{page.url.split('#')[1]}"), "own") == ""  # the address holds the formulas


def test_a_link_is_copied(visit):
    page = visit("#heads.n=8&heads.hidden=1,5", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#heads").get_by_role("button", name="Copy link").click()
    until(lambda: page.evaluate("navigator.clipboard.readText()") == page.url)


FRAMES = """() => new Promise(done => {
  let [count, begin] = [0, performance.now()];
  const look = now => {
    count += 1;
    if (now - begin > 3000) done(1000 * count / (now - begin)); else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""


@pytest.mark.slow
def test_a_run_at_a_hundred_positions_plays_smoothly(visit):
    page = visit("#heads.n=100&heads.hidden=2,50,77")
    page.locator("#landscape").get_by_role("button", name="Pause").click()
    page.locator("#heads").scroll_into_view_if_needed()
    if os.getloadavg()[0] > os.cpu_count() / 2:
        pytest.skip("this machine is busy with other work")
    page.locator("#heads").get_by_role("button", name="Play").click()
    assert page.evaluate(FRAMES) >= 50


def test_still_for_who_asks_narrow_and_dark(visit):
    page = visit(
        viewport={"width": 390, "height": 800}, color_scheme="dark", reduced_motion="reduce"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground))) < 60
    heads = page.locator("#heads")
    heads.get_by_role("button", name="Rewind").click()
    heads.get_by_role("button", name="Play").click()
    assert said(page, "heads").startswith("End, step 1500")


def test_chains_break_where_they_should(visit):
    page = visit("#chain.logN=6&chain.n=16")
    few = said(page, "chain")
    found, nodes = map(int, re.search(r"(\d+) of (\d+) nodes found", few).groups())
    assert found < nodes
    assert page.locator("#chain .edge:not(.own)").count() > 0
    page = visit("#chain.method=levels&chain.size=1.07&chain.k=4&chain.n=16")
    assert "nodes found" in said(page, "chain")


def test_a_run_goes_out_as_json_and_comes_back(visit, tmp_path):
    page = visit("#heads.n=8&heads.hidden=1,5")
    for demo, name in (("heads", "directions"), ("chain", "scores")):
        with page.expect_download() as waiting:
            page.locator(f"#{demo}").get_by_role("button", name="Download this run").click()
        waiting.value.save_as(tmp_path / f"{demo}.json")
        run = json.loads((tmp_path / f"{demo}.json").read_text())
        assert len(run[name]) == len(run["step"])
        page.set_input_files("#replay input[type=file]", tmp_path / f"{demo}.json")
        page.wait_for_selector("#replay svg")
        assert page.inner_text("#replay .complaint") == ""
    for text in ("{", "[]", '{"format": "other"}', json.dumps({**run, "step": "x"})):
        (tmp_path / "bad.json").write_text(text)
        page.set_input_files("#replay input[type=file]", tmp_path / "bad.json")
        until(lambda: "bad.json cannot be shown" in page.inner_text("#replay .complaint"))


def test_a_run_of_python_replays(visit, tmp_path):
    runs = learn(Annealed(), Population(Parity(12, (2, 7))), runs=1, trace=100)
    page = visit(url=write_live_page(tmp_path / "page.html", run_facts(runs)).as_uri())
    assert "anneal, n = 12; hidden 2, 7" in page.inner_text("#replay .rate")
    assert page.inner_text("#replay .said").startswith("Step 1400")
    assert page.locator("#replay .arrow").count() == 2
