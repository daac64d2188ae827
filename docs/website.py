"""The site as a folder: documents, reference, live page and report. `make site`.

Pages are gathered into build/pages, where every link leads to a page or a file of the site;
zensical turns them into site/, reading mkdocs.yml. A link that leads nowhere stops the build.
"""

import html
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reference

from paritylab.report import write_report
from paritylab.report.formulas import typeset
from paritylab.report.live.page import landscape_page, live_page
from paritylab.report.page import read_rows

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "site"
#: What is copied from docs/ as it is.
ALSO = (".svg", ".png", ".css")
#: Where files of the repository that are not documents go, as pages that show them.
SOURCE = Path("source")
#: The landscape on the home page, drawn by the engine of the live page.
HERO = (
    '<iframe class="hero" src="landscape.html" title="Two heads in a landscape of risk: most runs '
    'of gradient descent end in a trap"></iframe>'
)
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
#: The only address that the theme would load; without it search needs a server.
_SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')


def gather(pages: Path = PAGES) -> Path:
    """Every page of the site as Markdown, with live page and report beside them."""
    shutil.rmtree(pages, ignore_errors=True)
    shown: set[Path] = set()
    for source, target in documents():
        text = relinked(source.read_text(encoding="utf-8"), source, target, shown)
        write(pages / target, with_pages_beside(text, target))
    for picture in HERE.rglob("*"):
        if picture.suffix in ALSO:
            copy(picture, pages / picture.relative_to(HERE))
    for name, text in reference.pages().items():
        write(pages / "reference" / name, text)
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        write(pages / "notebooks" / f"{notebook.stem}.md", notebook_page(notebook))
    for file in sorted(shown):
        write(pages / shown_at(file), source_page(file))
    write(pages / "landscape.html", landscape_page())
    write(pages / "live.html", live_page(link="claims/{}.html"))
    if (ROOT / "report" / "index.html").is_file():
        copy(ROOT / "report" / "index.html", pages / "last-report" / "index.html")
    else:
        write_report(read_rows(HERE / "rows.json"), pages / "last-report")
    return pages


def documents() -> Iterator[tuple[Path, Path]]:
    """Documents with their places in the site: README first, those of the project apart."""
    yield ROOT / "README.md", Path("index.md")
    for path in sorted(ROOT.glob("*.md")):
        if path.name != "README.md":
            yield path, Path("project") / path.name
    for path in sorted(HERE.rglob("*.md")):
        place = path.relative_to(HERE)
        if str(place) == "api.md" or place.parts[0] in ("templates", "runs"):
            continue
        yield path, place.with_name("index.md") if place.name == "README.md" else place


def relinked(text: str, source: Path, target: Path, shown: set[Path]) -> str:
    """A page's text with links as they lie in the site; files to be shown are added to `shown`."""
    places = {path.resolve(): place for path, place in documents()}
    places[HERE.resolve() / "api.md"] = Path("reference") / "index.md"

    def there(found: re.Match[str]) -> str:
        start, link, anchor, end = found[1], found[2], found[3] or "", found[4]
        if "://" in link or link.startswith("mailto:"):
            return found[0]
        file = (source.parent / link).resolve()
        if file in places:
            place = places[file]
        elif file == HERE.resolve() or (file.is_relative_to(HERE.resolve()) and file.is_dir()):
            place = file.relative_to(HERE.resolve()) / "index.md"
        elif file.is_relative_to(HERE.resolve()) and file.suffix in ALSO:
            place = file.relative_to(HERE.resolve())
        elif file.suffix == ".ipynb":
            place = Path("notebooks") / f"{file.stem}.md"
        elif file.is_file():
            shown.add(file)
            place = shown_at(file)
        else:
            return found[0]  # zensical says which page and which line
        return f"{start}{relative(place, target)}{anchor}{end}"

    return outside_code(_LINK, there, text)


def with_pages_beside(text: str, target: Path) -> str:
    """Links to what only the site has: the live page and the last report."""
    live, report = (
        relative(Path(name), target) for name in ("live.html", "last-report/index.html")
    )
    if target == Path("index.md"):
        title, _, rest = text.partition("\n")
        sentence, _, rest = rest.strip().partition("\n")
        links = f"[The live page]({live}) · [the last report]({report})"
        rest = re.sub(r"^!\[.*landscape\.png\)\n+", "", rest, flags=re.MULTILINE)
        return "\n\n".join([title, sentence, HERO, f"{links} · [start here](start/index.md)", rest])
    return text.replace("The live page is part of", f"[The live page]({live}) is part of")


def outside_code(pattern: re.Pattern[str], put: Any, text: str) -> str:
    """A substitution that leaves fenced blocks alone."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else pattern.sub(put, part) for part in parts)


def relative(place: Path, page: Path) -> str:
    ups = [".."] * (len(page.parts) - 1)
    return "/".join([*ups, *place.parts])


def shown_at(file: Path) -> Path:
    return SOURCE / f"{file.relative_to(ROOT.resolve()).as_posix()}.md"


def source_page(file: Path) -> str:
    """A file of the repository as a page."""
    kind = {".py": "python", ".toml": "toml", ".json": "json", ".cff": "yaml"}.get(file.suffix, "")
    name = file.relative_to(ROOT.resolve()).as_posix()
    apart = "---\nsearch:\n  exclude: true\n---\n\n"
    return f"{apart}# {name}\n\n`````{kind}\n{file.read_text(encoding='utf-8')}`````\n"


def notebook_page(path: Path) -> str:
    """A notebook with its outputs as a page."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
        for output in cell.get("outputs", []):
            printed = output.get("text") or output.get("data", {}).get("text/plain", "")
            parts.append(f"```text\n{''.join(printed).rstrip()}\n```")
    return "\n\n".join(parts) + f"\n\nThe notebook itself: `examples/{path.name}`.\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


#: What is not prose, and the tags between which prose is.
_KEPT = re.compile(r"(<(script|style|code|pre|math|svg|button)\b.*?</\2>|<[^>]+>)", re.DOTALL)


def with_formulas(page: str) -> str:
    """A built page with the formulas of its article as MathML; code stays as it is."""
    start, end = page.find("<article"), page.rfind("</article>")
    if start < 0 or end < 0:
        return page
    parts, at = [page[:start]], start
    for kept in _KEPT.finditer(page, start, end):
        parts += [typeset(html.unescape(page[at : kept.start()])), kept[0]]
        at = kept.end()
    return "".join([*parts, page[at:]])


def finished(site: Path = SITE) -> list[str]:
    """Put our own shim in place of the one from elsewhere, and MathML in place of formulas.

    Returns what a page would still load from elsewhere, if anything.
    """
    shim = f"<script>{(HERE / 'worker.js').read_text(encoding='utf-8')}</script>"
    loaded = []
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        made = with_formulas(_SHIM.sub(lambda _: shim, text))
        if made != text:
            page.write_text(made, encoding="utf-8")
        loaded += [f"{page.relative_to(site)}: {url}" for url in requests_of(made)]
    return loaded


def requests_of(page: str) -> list[str]:
    """Addresses that a browser would load by itself."""
    tags = r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']?(https?:[^\"'\s>]+)"
    loads = r"<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preload|preconnect|icon))"
    sheets = loads + r"[^>]*href=[\"']?(https?:[^\"'\s>]+)"
    return re.findall(tags, page) + re.findall(sheets, page)


def main() -> int:
    gather()
    shutil.rmtree(SITE, ignore_errors=True)
    tool = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    built = subprocess.run(tool, cwd=ROOT, check=False)
    if built.returncode:
        return built.returncode
    if loaded := finished():
        print("the site would load:", *loaded, sep="\n  ")
        return 1
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    pages = sum(1 for _ in SITE.rglob("*.html"))
    print(f"site: {SITE / 'index.html'} ({pages} pages, {size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
