"""Write the generated pages: one per claim, and the list of public names. Run by `make docs`."""

import inspect
import re
from pathlib import Path

import paritylab
from paritylab.claims import Claim, registry
from paritylab.claims.registry import PAPERS

HERE = Path(__file__).parent
ROOT = HERE.parent


def claim_page(claim: Claim) -> str:
    """Everything the registry knows about a claim."""
    source = Path(inspect.getsourcefile(inspect.unwrap(claim.run)) or "").resolve()
    place = source.relative_to(ROOT)
    quick, default, full = claim.seconds
    return f"""# {claim.title}

`{claim.id}` · {claim.paper.upper()}: {PAPERS[claim.paper]}

{claim.statement}

Expected verdict: **{claim.expected.value}**, {claim.expected.sentence}.

```sh
paritylab check {claim.id} --report report
```

About {quick:g} s at quick, {default:g} s at default and {full:g} s at full effort. The code that \
decides it is `{claim.run.__name__}` in [{place}](../../{place}).
"""


def claims_index(claims: dict[str, Claim]) -> str:
    lines = ["# Claims", ""]
    for paper, name in PAPERS.items():
        lines += [f"## {paper.upper()}: {name}", ""]
        lines += [
            f"- [{claim.id}]({claim.id}.md) ({claim.expected.value}): {claim.title}"
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


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    claims = registry()
    made = {HERE / "claims" / f"{id}.md": claim_page(claim) for id, claim in claims.items()}
    made[HERE / "claims" / "README.md"] = claims_index(claims)
    made[HERE / "api.md"] = api_page()
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
