"""Fingerprints change with whatever a result depends on."""

import importlib.util
import sys

import jax

from paritylab.execution.provenance import fingerprint_of, imported_beside
from paritylab.learning import Heads, OneStep


def test_helpers_beside_a_file_are_found_through_each_other(tmp_path):
    (tmp_path / "first.py").write_text("from second import x\n")
    (tmp_path / "second.py").write_text("import json, numpy, paritylab\n")
    (tmp_path / "other.py").write_text("")
    main = tmp_path / "main.py"
    main.write_text("def run():\n    import first\n")
    assert [path.name for path in imported_beside(main)] == ["first.py", "second.py"]


def test_a_users_learner_is_known_by_its_file_and_helpers(tmp_path, monkeypatch):
    main, helper = tmp_path / "own_main.py", tmp_path / "own_helper.py"
    helper.write_text("x = 1\n")
    main.write_text("class Own:\n    def train(self):\n        import own_helper\n")
    spec = importlib.util.spec_from_file_location("loaded_own_main", main)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    before = fingerprint_of(module.Own)
    assert before != fingerprint_of(Heads)
    helper.write_text("x = 2\n")
    assert fingerprint_of(module.Own) != before


def test_the_labs_own_learners_share_the_fingerprint_of_the_package():
    assert fingerprint_of(Heads) == fingerprint_of(OneStep) == fingerprint_of(None)


def test_precision_is_part_of_it():
    before = fingerprint_of(None)
    with jax.enable_x64(True):
        assert fingerprint_of(None) != before
    with jax.default_matmul_precision("highest"):
        assert fingerprint_of(None) != before
