"""A Chromium for tests, one that is installed or Playwright's own, and what is asked inside it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]
#: Why a test was skipped; `conftest.py` counts these and says once what to install.
NO_BROWSER = "no Chromium on this machine"


@cache
def installed() -> str | None:
    """An installed Chromium that starts; a package may be an empty shell for another one."""
    asked = os.environ.get("PARITYLAB_CHROMIUM")
    for path in filter(None, (asked, *map(shutil.which, NAMES))):
        if not subprocess.run([path, "--version"], capture_output=True, check=False).returncode:
            return path
    return None


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium. Without one the test is skipped; with one nothing else may skip it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        if installed():
            pytest.fail("there is a Chromium here but no playwright: pip install playwright")
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        path = installed() or playwright.chromium.executable_path
        if not os.path.exists(path):
            pytest.skip(NO_BROWSER)
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


#: Visible text whose contrast with what lies behind it is below 4.5, with that contrast.
LOW_CONTRAST = """() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v =>
    v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(at).backgroundColor);
      if (a > 0.99) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!own || !element.checkVisibility() || element.closest("script")) continue;
    const style = getComputedStyle(element);
    const front = parts(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(front), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(element.textContent.slice(0, 30) + " " + ratio.toFixed(2));
  }
  return low;
}"""

#: Words of figures that overlap each other or leave their figure.
COLLIDING = """() => {
  const found = [];
  for (const figure of document.querySelectorAll("svg.fig")) {
    const frame = figure.getBoundingClientRect();
    const boxes = [...figure.querySelectorAll("text")].map(t => [t, t.getBoundingClientRect()]);
    boxes.forEach(([text, box], i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1)
        found.push("leaves: " + text.textContent);
      for (const [other, next] of boxes.slice(i + 1)) {
        const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
        const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
        if (across > 1 && down > 3) found.push(text.textContent + " × " + other.textContent);
      }
    });
  }
  return found;
}"""
