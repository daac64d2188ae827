"""The pictures of report and live page in the documents. `make pictures`; needs a Chromium.

The report is built from rows.json, so the pictures show the verdicts that are kept.
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from paritylab.report import write_report
from paritylab.report.live.page import write_live_page
from paritylab.report.page import read_rows

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
CARD = "hg1-thm5"
DEMOS = ("heads", "own", "xor", "chain")


def save(image: Image.Image, path: Path) -> None:
    """Few colours are enough and make a small file."""
    small = image.convert("RGB").quantize(colors=256, method=Image.Quantize.MAXCOVERAGE)
    small.save(path, optimize=True)
    print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size // 1024} KB")


def shot(browser: Any, address: str, width: int, height: int, **options: Any) -> Image.Image:
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    page.goto(address)
    page.wait_for_timeout(800)
    image = Image.open(io.BytesIO(page.screenshot()))
    context.close()
    return image


def take_report(browser: Any, address: str) -> None:
    folder = HERE / "report"
    card = f"{address}#{CARD}"
    save(shot(browser, address, 1280, 1250, color_scheme="light"), folder / "light.png")
    save(shot(browser, card, 1280, 1000, color_scheme="dark"), folder / "dark.png")
    both = Image.new("RGB", (800, 900), "white")
    both.paste(shot(browser, address, 390, 900), (0, 0))
    both.paste(shot(browser, card, 390, 900), (410, 0))
    save(both, folder / "phone.png")


def take_live(browser: Any, address: str) -> None:
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce", color_scheme="light"
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#landscape[data-ready]", timeout=60_000)
    still = Image.open(io.BytesIO(page.locator("#landscape canvas").screenshot()))
    save(still, HERE / "live" / "landscape.png")
    for demo in DEMOS:
        page.wait_for_selector(f"#{demo}[data-ready]")
        seen = page.locator(f"#{demo} .panel").screenshot()
        save(Image.open(io.BytesIO(seen)), HERE / "live" / f"{demo}.png")
    context.close()


def main() -> int:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = found or playwright.chromium.executable_path
        if not Path(path).exists():
            print("no Chromium here: install one, or python -m playwright install chromium")
            return 2
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        take_live(browser, write_live_page(Path(folder) / "live.html").as_uri())
        report = write_report(read_rows(HERE / "rows.json"), Path(folder) / "report")
        take_report(browser, report.as_uri())
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
