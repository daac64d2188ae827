"""The record of a long proof counts for exactly the files and the python-flint that it names."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("flint")

from paritylab.proofs import checker, provable, records, verified

LONG = [id for id in provable() if checker.expected_seconds(id) > records.LIVE_SECONDS]


@pytest.fixture
def copied(monkeypatch, tmp_path):
    """The package's files of proofs, copied to a folder where they may be changed."""
    folder = tmp_path / "proofs"
    shutil.copytree(checker.HERE, folder)
    monkeypatch.setattr(records, "HERE", folder)
    monkeypatch.setattr(records, "CERTIFICATES", folder / "certificates")
    monkeypatch.setattr(records, "STATEMENTS", folder / "statements")
    return folder


def append_comment(path):
    path.write_text(path.read_text() + "# a change\n")


@pytest.mark.parametrize("id", LONG)
def test_the_record_in_the_package_is_current(id):
    """After a change to a file of a long proof: `paritylab prove --record`, and commit."""
    entry = records.recorded()[id]
    assert entry["fingerprint"] == records.fingerprint(id), records.provenance(id)
    assert verified(id)


def test_only_long_proofs_are_recorded():
    assert sorted(records.recorded()) == LONG


@pytest.mark.parametrize(
    ("id", "module"),
    [
        ("hg1-lemma19", "hg1_lemma18"),
        ("hg1-misprints", "hg1_lemma18"),
        ("hg1-remark12", "hg1_thm11"),
        ("lab-few-heads", "hg1_misprints"),
        ("lab-few-heads", "hg1_lemma18"),  # which hg1_misprints imports
    ],
)
def test_a_proof_rests_on_the_statements_that_its_statement_imports(copied, id, module):
    before, other = records.fingerprint(id), records.fingerprint("ks-thm7")
    append_comment(copied / "statements" / f"{module}.py")
    assert records.fingerprint(id) != before
    assert records.fingerprint("ks-thm7") == other


@pytest.mark.parametrize("name", ["checker", "reading", "domain", "kernel", "pairs"])
def test_the_longest_proof_rests_on_the_checker(copied, name):
    before = records.fingerprint("hg1-thm5")
    append_comment(copied / f"{name}.py")
    assert records.fingerprint("hg1-thm5") != before


def test_a_proof_rests_on_its_certificate_and_not_on_the_record(copied):
    before = records.fingerprint("hg1-thm5")
    append_comment(copied / "verified.json")
    append_comment(copied / "certificates" / "hg1-floor.json")
    assert records.fingerprint("hg1-thm5") == before
    append_comment(copied / "certificates" / "hg1-thm5.json")
    assert records.fingerprint("hg1-thm5") != before


@pytest.mark.parametrize("id", ["hg1-thm5", "hg1-lemma19", "lab-few-heads", "ks-thm7"])
def test_the_files_of_a_proof_are_the_modules_that_it_loads(id):
    """Read from the source here, against what a fresh interpreter loads for the statement."""
    code = (
        "import importlib, sys; from paritylab.proofs.checker import statement;"
        f"statement({id!r}); print(*(m.__file__ for n, m in sys.modules.items()"
        " if n.startswith('paritylab.proofs.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {Path(file) for file in done.stdout.split()}
    listed = {path for path in records.files_of(id) if path.suffix == ".py"}
    packages = {path for path in loaded if path.name == "__init__.py"}
    assert loaded - packages - {Path(records.__file__)} == listed | {checker.HERE / "kernel.py"}


def test_a_record_counts_only_with_the_same_files_and_python_flint(monkeypatch, tmp_path):
    id = LONG[0]
    monkeypatch.setattr(records, "RECORD", tmp_path / "verified.json")
    assert not verified(id)
    assert "never recorded" in records.provenance(id)
    records.record(checker.Result(id, "", True, seconds=400.0))
    assert verified(id)
    assert f"python-flint {records.flint_version()} in 400 s" in records.provenance(id)
    files_of, other = records.files_of, tmp_path / "kernel.py"
    other.write_text("changed")
    for name, instead in (
        ("flint_version", lambda: "0.0.1"),
        ("files_of", lambda id: [*files_of(id)[:-1], other]),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(records, name, instead)
            assert not verified(id)
            assert "not with these files and python-flint" in records.provenance(id)
    records.record(checker.Result(id, "", False))
    assert "never recorded" in records.provenance(id)
