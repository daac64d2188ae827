"""Stored verdicts: which are reused, and that showing one loads neither jax nor other claims."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import paritylab
from paritylab.claims import PAPERS, Effort, Trial, registry
from paritylab.claims.engine.recorded import recorded
from paritylab.claims.engine.reuse import _CLAIM_MODULE, files_of_claim
from paritylab.claims.engine.running import key_of

PACKAGE = Path(paritylab.__file__).parent
CLAIM_FILES = [file for name in PAPERS for file in (PACKAGE / "claims" / name).rglob("*.py")]
#: Prints the key of every claim, then what was loaded that should not be.
KEYS = """
import sys
from paritylab.claims.engine.recorded import recorded
from paritylab.claims.engine.running import Trial, key_of
for id in recorded():
    print(id, key_of(id, Trial("quick")))
assert not {"jax", "scipy"} & set(sys.modules)
"""


def python(code, *arguments, path=None):
    """What a fresh interpreter prints, as a user's would whose jax has no settings of ours."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_"))}
    env = {**inherited, "JAX_PLATFORMS": "cpu", **({"PYTHONPATH": str(path)} if path else {})}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_stored_verdict_loads_neither_jax_nor_any_claim(tmp_path):
    show = """
import sys
from paritylab.cli import main
try:
    main(["check", "hg1-floor", "--effort", "quick", "--store", sys.argv[1]])
except SystemExit as end:
    assert not end.code
papers = ("hg1", "hg2", "ks", "lab", "dm")
claims = [m for m in sys.modules if m.startswith(tuple(f"paritylab.claims.{p}." for p in papers))]
print("jax" in sys.modules, claims)
"""
    first = python(show, tmp_path / "s.db").splitlines()
    assert first[-1] == "True ['paritylab.claims.hg1.scope']"
    second = python(show, tmp_path / "s.db").splitlines()
    assert second[-1] == "False []"
    assert first[:-1] == second[:-1]


def test_an_edit_changes_the_keys_of_what_rests_on_it_and_no_others(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "paritylab", ignore=shutil.ignore_patterns("__pycache__"))
    others = [entry for entry in sys.path if entry and Path(entry).name != "__pycache__"]
    path = os.pathsep.join([str(tmp_path), *others])

    def keys():
        return dict(line.split() for line in python(KEYS, path=path).splitlines())

    def changed(name, text):
        file, before = tmp_path / "paritylab" / name, keys()
        file.write_text(file.read_text() + text)
        after = keys()
        return {id for id in after if before[id] != after[id]}

    def claims_of(*modules):
        return {id for id, entry in recorded().items() if entry.module in modules}

    sentence = "\n# A sentence.\n"
    assert changed("claims/ks/one_step.py", sentence) == claims_of("ks.one_step")
    assert changed("claims/ks/counterexamples/ks-thm7.py", sentence) == {"ks-thm7"}
    shared = changed("claims/lab/transformers.py", sentence)
    assert shared == claims_of("lab.transformers", "lab.unknown_parents")
    assert changed("cli/check.py", sentence) == changed("report/words.py", sentence) == set()
    shared_code = ("learning/runs.py", "experiments/chain.py", "claims/engine/rule.py")
    for name in (*shared_code, "statistics/thresholds.py"):
        assert changed(name, sentence) == set(recorded())
    assert changed("proofs/certificates/hg1-floor.json", " ") == set(recorded())


def test_a_key_is_the_same_from_the_list_and_from_the_loaded_claim():
    trial = Trial(Effort.QUICK)
    for id, claim in registry().items():
        assert key_of(id, trial) == key_of(claim, trial)
    assert key_of("hg1-floor", trial) != key_of("hg1-floor", Trial(Effort.QUICK, 1))
    assert key_of("hg1-floor", trial) != key_of("hg1-floor", Trial(Effort.DEFAULT))


@pytest.mark.parametrize("flags", ["--xla_cpu_enable_fast_math=true", ""])
def test_xla_flags_are_part_of_the_key(flags, monkeypatch):
    before = key_of("hg1-floor", Trial())
    monkeypatch.setenv("XLA_FLAGS", f"{os.environ.get('XLA_FLAGS', '')} {flags}")
    assert (key_of("hg1-floor", Trial()) == before) is (not flags)


def test_imports_between_claim_modules_are_written_so_that_they_are_found():
    """Their names are searched for in the text, without loading or parsing it."""
    for file in CLAIM_FILES:
        named = {".".join(match) for match in _CLAIM_MODULE.findall(file.read_text())}
        for node in ast.walk(ast.parse(file.read_text())):
            assert not (isinstance(node, ast.ImportFrom) and node.level), file
            modules = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            for module in modules:
                parts = module.split(".")
                if parts[:2] == ["paritylab", "claims"] and len(parts) > 2 and parts[2] in PAPERS:
                    assert len(parts) > 3, f"{file} imports from the package {module}"
                    assert ".".join(parts[2:4]) in named, file


def test_the_files_of_a_claim_are_its_module_what_this_imports_and_its_counterexample():
    files = files_of_claim("ks-thm1", PACKAGE / "claims" / "ks" / "hardness.py")
    assert {file.name for file in files} >= {"hardness.py", "ks-thm1.py"}
    files = files_of_claim("lab-unknown-parents", PACKAGE / "claims" / "lab" / "unknown_parents.py")
    assert {file.name for file in files} >= {"unknown_parents.py", "transformers.py"}
