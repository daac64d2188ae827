"""The pictures of the live page in the documents. `make pictures`; needs a Chromium."""

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from paritylab.report.live.page import write_live_page

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
DEMOS = ("heads", "own", "xor", "chain")


def save(image: Image.Image, path: Path) -> None:
    """Few colours are enough and make a small file."""
    small = image.convert("RGB").quantize(colors=256, method=Image.Quantize.MAXCOVERAGE)
    small.save(path, optimize=True)
    print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size // 1024} KB")


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
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
