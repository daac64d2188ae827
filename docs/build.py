"""Write what is generated: a page per claim, the public names, README's table. `make docs`."""

import inspect
import re
from pathlib import Path

import paritylab
import paritylab.solvers
from paritylab.claims import PAPERS, Claim, Effort, Status, registry
from paritylab.learning import LEARNERS
from paritylab.options import OPTIONS, PROBLEM, Option

HERE = Path(__file__).parent
ROOT = HERE.parent


def claim_page(claim: Claim) -> str:
    """Everything the registry knows about a claim."""
    place = claim.file.resolve().relative_to(ROOT)
    quick, default, full = claim.seconds
    parts = f"`{claim.measure.__name__}`"
    if claim.judged_by:
        parts += f", judged by `{claim.judged_by.__name__}`,"
    return f"""# {claim.title}

`{claim.id}` · {claim.paper.upper()}: {PAPERS[claim.paper]} · {claim.source.place}

{claim.statement}

Recorded verdict: {recorded_verdict(claim)}.

```sh
paritylab check {claim.id} --report report
```

About {quick:g} s at quick, {default:g} s at default and {full:g} s at full effort. It is measured \
by {parts} in [{place}](../../{place}).
"""


def recorded_verdict(claim: Claim) -> str:
    """The verdict at default effort, and those of other efforts where they differ."""
    usual = claim.expected_at(Effort.DEFAULT)
    if usual is None:
        return "none yet"
    others = {effort: claim.expected_at(effort) for effort in Effort}
    notes = [f"{s} at {e} effort" for e, s in others.items() if s not in (None, usual)]
    return f"**{usual}**, {usual.sentence}" + "".join(f"; {note}" for note in notes)


def claims_index(claims: dict[str, Claim]) -> str:
    lines = ["# Claims", ""]
    for paper, name in PAPERS.items():
        lines += [f"## {paper.upper()}: {name}", ""]
        lines += [
            f"- [{claim.id}]({claim.id}.md) ({claim.expected_at(Effort.DEFAULT) or 'new'}): "
            f"{claim.title}"
            for claim in claims.values()
            if claim.paper == paper
        ]
        lines.append("")
    return "\n".join(lines)


def api_page() -> str:
    """Public names, each with the first line of its docstring."""
    lines = ["# Public names", "", "Import them from `paritylab`. `help(name)` says more.", ""]
    homes = paritylab._homes()
    for home in sorted(set(homes.values())):
        lines += [f"## {home}", ""]
        for name in sorted((n for n in homes if homes[n] == home), key=str.lower):
            value = getattr(paritylab, name)
            described = inspect.isclass(value) or inspect.isfunction(value)
            text = (inspect.getdoc(value) or "") if described else ""
            first = re.split(r"(?<=[.!?])\s|\n\n", " ".join(text.split("\n\n")[0].split()))[0]
            lines.append(f"- `{name}`" + (f": {first}" if first else ""))
        lines.append("")
    return "\n".join(lines)


def settings_page() -> str:
    """The table of options: what sweeps, the command line and Python call each setting."""
    lines = [
        "# Settings",
        "",
        "Every setting of every learner, as in Python, in sweep files and (with dashes) on the "
        "command line. A word means the same everywhere: `eta` is a step size, `width` the "
        "dimension of a position code or a layer, `steps` are gradient steps, `block` in sweeps "
        "is the number of runs per compiled call, and a rate is a share of runs.",
        "",
    ]
    tables = {"problem": PROBLEM, **OPTIONS}
    for name, table in tables.items():
        made = "" if name == "problem" else f" ({LEARNERS[name].__name__})"
        lines += [f"## {name}{made}", "", "| setting | may be | meaning |", "|---|---|---|"]
        lines += [
            f"| `{key}` | {_allowed(option)} | {option.help} |" for key, option in table.items()
        ]
        lines.append("")
    return "\n".join(lines)


def _allowed(option: Option) -> str:
    words = [f"`{choice}`" for choice in option.choices]
    if option.own:
        words.append(option.own)
    if option.formula:
        words.append("a number or a formula in n")
    if not words:
        named = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
        bounds = (("≥", option.least), (">", option.above), ("<", option.below))
        limits = ", ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)
        words.append(f"{named[option.type]} {limits}".strip())
    return ", ".join(words) + (" or none" if option.optional else "")


def readme(claims: dict[str, Claim]) -> str:
    """README with its counts of verdicts and its table of claims brought up to date."""
    text = (ROOT / "README.md").read_text()
    recorded = {claim.id: claim.expected_at(Effort.DEFAULT) for claim in claims.values()}
    counts = []
    for paper in PAPERS:
        statuses = [recorded[c.id] for c in claims.values() if c.paper == paper]
        known = [status for status in Status if status in statuses]
        counts.append(
            f"{paper.upper()}: " + ", ".join(f"{statuses.count(s)} {s.value}" for s in known)
        )
    summary = "**Verdicts so far** — " + "; ".join(counts) + "."
    text = re.sub(r"\*\*Verdicts so far\*\* — .*", lambda _: summary, text)
    rows = [
        f"| `{c.id}` | {c.paper} | {recorded[c.id] or 'new'} | {c.title} |" for c in claims.values()
    ]
    table = "\n".join(["| claim | paper | verdict | what it says |", "|---|---|---|---|", *rows])
    return re.sub(r"\| claim \| paper \|.*?(?=\n\n)", lambda _: table, text, flags=re.DOTALL)


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    claims = registry()
    made = {HERE / "claims" / f"{id}.md": claim_page(claim) for id, claim in claims.items()}
    made[HERE / "claims" / "README.md"] = claims_index(claims)
    made[HERE / "api.md"] = api_page()
    made[HERE / "settings.md"] = settings_page()
    made[ROOT / "README.md"] = readme(claims)
    return made


def main() -> None:
    made = pages()
    (HERE / "claims").mkdir(exist_ok=True)
    for old in (HERE / "claims").glob("*.md"):
        if old not in made:
            old.unlink()
    for path, text in made.items():
        path.write_text(text)
    print(f"{len(made)} pages written")


if __name__ == "__main__":
    main()
