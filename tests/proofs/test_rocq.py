"""The files for the second prover: written from the certificates, complete, and checked by Rocq."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("flint")

from paritylab.cli.app import main
from paritylab.proofs import checker, rocq

#: What `Print Assumptions all` listed when the files were compiled last.
AXIOMS = (Path(__file__).parent / "axioms.txt").read_text().split()


def without_comments(text: str) -> str:
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def test_every_template_makes_a_file_that_ends_with_its_theorem():
    files = rocq.sources()
    names = {"".join(part.capitalize() for part in id.split("-")) for id in rocq.DERIVED}
    templates = {path.stem for path in (rocq.HERE / "templates").glob("*.v")}
    assert set(files) == {f"{name}.v" for name in (*names, "Model", "All")}
    assert templates - {"imports", "choose"} == names
    for name in names:
        code = without_comments(files[f"{name}.v"])
        assert "$" not in code, name
        assert code.count("Qed.") == code.count("Proof."), name
        assert re.findall(r"\b(?:Theorem|Lemma|Corollary) (\w+)", code)[-1] == "shown", name
        assert f"From Paritylab Require {name}." in files["All.v"]
        assert f"{name}.shown" in files["All.v"]


def test_nothing_is_admitted_assumed_or_left_to_floats():
    for name, text in rocq.sources().items():
        code = without_comments(text)
        for word in ("Admitted", "admit", "Axiom", "Parameter", "Hypothesis", "give_up", "native"):
            assert not re.search(rf"\b{word}\b", code), (name, word)
        for call in re.findall(r"\binterval\b[^.;]*", code):
            assert "i_prec" in call, (name, call)


def test_the_numbers_come_from_the_certificate(monkeypatch, tmp_path):
    before = rocq.sources()["KsThm7.v"]
    for path in checker.CERTIFICATES.glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text())
    moved = tmp_path / "ks-thm7.json"
    moved.write_text(moved.read_text().replace("19/20", "18/20"))
    monkeypatch.setattr(rocq, "CERTIFICATES", tmp_path)
    assert "(9 # 10)" in rocq.sources()["KsThm7.v"]
    assert "(9 # 10)" not in before


def axioms(printed: str) -> set[str]:
    """Names at the beginning of a line of `Print Assumptions`."""
    found = re.findall(r"^([A-Za-z_][\w.]*)(?: :|$)", printed, flags=re.MULTILINE)
    return set(found) - {"Axioms"}


def test_the_axioms_are_those_of_reals_and_machine_integers():
    allowed = ("ClassicalDedekindReals.", "FunctionalExtensionality.", "Classical_Prop.classic")
    integers = ("Uint63.", "PrimInt63.")
    assert AXIOMS
    assert all(name.startswith((*allowed, *integers)) for name in AXIOMS)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="Rocq is not installed")
def test_rocq_proves_every_file_from_the_listed_axioms(tmp_path):
    names = [path.stem for path in rocq.write(tmp_path)]
    for name in names:
        done = subprocess.run(
            ["coqc", "-w", "none", "-Q", ".", "Paritylab", f"{name}.v"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert axioms(done.stdout) == set(AXIOMS)
    ours = [word for name in names for word in ("-norec", f"Paritylab.{name}")]
    again = ["coqchk", "-silent", "-Q", ".", "Paritylab", *ours]
    assert subprocess.run(again, cwd=tmp_path, check=False).returncode == 0


def test_the_command_writes_the_files(capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["prove", "--coq", str(tmp_path / "made")])
    assert ended.value.code == 0
    written = {path.name: path.read_text() for path in (tmp_path / "made").iterdir()}
    assert written == rocq.sources()
    assert "apt-get install coq libcoq-interval" in capsys.readouterr().out
