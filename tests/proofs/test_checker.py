"""What is no certificate is refused in one line; the command says how it went."""

import json
import os
import re
import signal

import pytest

pytest.importorskip("flint")

from paritylab.claims import registry
from paritylab.cli.app import main
from paritylab.proofs import checker, load_certificate, provable, reading, records, verified, verify
from paritylab.proofs.kernel import Proof, WorkerDiedError

GOOD = {
    "claim": "hg1-marginals",
    "setting": {"p": "9/10", "noise": "1/10"},
    "witness": {"blind": "-4/5"},
}


def written(tmp_path, content) -> str:
    path = tmp_path / "certificate.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ('{"claim": "hg1-floor", "claim": "hg1-marginals"}', "given twice"),
        ({**GOOD, "witness": {"blind": "-9/5"}}, "blind must be a number from -1 to 1"),
        ("[]", "claim, setting and witness"),
        ({**GOOD, "more": 1}, "claim, setting and witness"),
        ({**GOOD, "claim": "../kernel"}, "no statement"),
        ({**GOOD, "setting": {"p": "1/2", "noise": "1/10"}}, "the statement is about"),
        ({**GOOD, "witness": {}}, "must have ['blind']"),
        ({**GOOD, "witness": {"blind": 1, "other": 2}}, "must have ['blind']"),
        ('{"claim": "hg1-marginals", "setting": {}, "witness": {"blind": 0.8}}', "not exact"),
        ({**GOOD, "witness": {"blind": "4/0"}}, "no exact number"),
        ({**GOOD, "witness": {"blind": None}}, "expected a number"),
        ({**GOOD, "witness": {"blind": "9" * 500}}, "too long"),
        ({**GOOD, "witness": {"blind": 10**400}}, "too long"),
        ({**GOOD, "witness": {"blind": [[[[[[[[1]]]]]]]]}}, "deeper"),
        (json.dumps(GOOD) + " " * reading.LARGEST_FILE, "at most"),
        ("[" * 20_000, "not JSON"),
    ],
)
def test_what_is_no_certificate_is_refused_in_one_line(tmp_path, content, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        load_certificate(written(tmp_path, content))
    assert "\n" not in str(caught.value)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["prove", *arguments])
    return ended.value.code, capsys.readouterr()


def test_the_command_verifies_and_writes_json(capsys):
    code, printed = run(capsys, "hg1-marginals", "hg1-floor", "--json", "-")
    rows = json.loads(printed.out)
    assert code == 0
    assert {row["claim"] for row in rows if row["verified"]} == {"hg1-marginals", "hg1-floor"}


def test_the_command_ends_with_1_if_something_is_not_shown(capsys, tmp_path):
    path = written(tmp_path, {**GOOD, "witness": {"blind": "-3/4"}})
    code, printed = run(capsys, "--file", path)
    assert code == 1
    assert "not shown" in printed.out


def test_the_command_ends_with_2_if_something_is_no_certificate(capsys, tmp_path, monkeypatch):
    assert run(capsys, "--file", written(tmp_path, "{"))[0] == 2
    code, printed = run(capsys, "hg1-lemma8-p")
    assert code == 2
    assert "did you mean hg1-lemma8-pl?" in printed.err
    monkeypatch.setattr(checker, "find_spec", lambda name: None)
    code, printed = run(capsys, "hg1-marginals")
    assert code == 2
    assert "pip install 'paritylab[proofs]'" in printed.err


def test_verified_is_found_once(monkeypatch):
    assert verified("hg1-marginals")
    monkeypatch.setattr(records, "verify", lambda id: pytest.fail("run again"))
    assert verified("hg1-marginals")
    assert not verified("hg1-nothing")


def test_a_certificate_of_another_claim_is_refused():
    held = load_certificate(checker.CERTIFICATES / "hg1-marginals.json")
    with pytest.raises(ValueError, match="not of hg1-floor"):
        verify("hg1-floor", held)


def test_claims_name_certificates_that_exist():
    claims = [claim for claim in registry().values() if claim.certificates]
    assert all(claim.id == claim.certificate for claim in claims)
    # ks-thm1 proves that a fixed answer beats the printed rate, which is another statement than
    # the one that the claim of this name measures.
    decisive = sorted({*provable()} - {"ks-thm1"})
    assert sorted(id for claim in claims for id in claim.certificates) == decisive


def end_process(proof, number):
    """A task during which its process is killed, as by the kernel when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_killed_worker_ends_the_command_with_one_line(capsys, monkeypatch):
    statement = checker.statement("hg1-marginals")

    def prove(proof, setting, witness):
        proof.spread(end_process, [(1,), (2,)], 0)

    monkeypatch.setattr(statement, "prove", prove)
    with pytest.raises(WorkerDiedError):
        Proof(jobs=2).spread(end_process, [(1,), (2,)], 0)
    code, printed = run(capsys, "hg1-marginals", "--jobs", "2")
    assert code == 4
    (line,) = [line for line in printed.err.splitlines() if not line.startswith("at work")]
    assert "a worker process of a proof died" in line
