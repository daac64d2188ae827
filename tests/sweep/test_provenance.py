"""Fingerprints change with whatever a result depends on."""

import functools
import importlib.util
import os
import subprocess
import sys

import jax

from paritylab.models import HeadAttention
from paritylab.sweep.provenance import code_fingerprint, fingerprint_of, helper_files


def load(path):
    spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_helpers_are_found_through_every_kind_of_import(tmp_path):
    folder = tmp_path / "kit"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("from . import other\nfrom .third import x\n")
    (folder / "other.py").write_text("")
    (folder / "third.py").write_text("x = 1\n")
    (tmp_path / "lazy_one.py").write_text("import json, numpy, paritylab\n")
    main = tmp_path / "main.py"
    main.write_text("import kit.inner\ndef run():\n    from lazy_one import json\n")
    names = {path.name for path in helper_files(main)}
    assert names == {"__init__.py", "inner.py", "other.py", "third.py", "lazy_one.py"}


def test_a_users_function_is_known_by_its_file_and_helpers(tmp_path):
    main, helper = tmp_path / "own_main.py", tmp_path / "own_helper.py"
    helper.write_text("x = 1\n")
    main.write_text(
        "def run():\n    import own_helper\n    return own_helper.x\nclass Thing: pass\n"
    )
    module = load(main)
    before = fingerprint_of(module.run)
    assert before == fingerprint_of(functools.partial(module.run, 3))
    assert before == fingerprint_of(module.run, None)
    assert before == fingerprint_of(module.Thing()) == fingerprint_of(module.Thing)
    helper.write_text("x = 2\n")
    assert fingerprint_of(module.run) != before


def test_the_labs_own_functions_share_the_fingerprint_of_the_package():
    assert fingerprint_of(HeadAttention) == fingerprint_of(code_fingerprint) == fingerprint_of()


def test_typed_functions_are_known_by_their_code():
    def typed(constant):
        names = {}
        exec(compile(f"def run(): return [{constant} for _ in 'ab']", "<typed>", "exec"), names)
        return fingerprint_of(names["run"])

    assert typed(1) == typed(1)
    assert typed(1) != typed(2)


def test_precision_is_part_of_it():
    before = fingerprint_of()
    with jax.enable_x64(True):
        assert fingerprint_of() != before
    with jax.default_matmul_precision("highest"):
        assert fingerprint_of() != before


def test_the_environments_x64_gives_another_key():
    code = (
        "from paritylab.claims.engine.freshness import verdict_key\n"
        "print(verdict_key('hg1-mask', 'quick', 0, None))"
    )

    def key(**extra):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | extra,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    plain = key()
    assert plain.strip()
    assert plain != key(JAX_ENABLE_X64="1")
