"""The built wheel works away from the repository."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_wheel_installs_and_checks(tmp_path):
    python = sys.executable
    build = [python, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    install = [python, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    where = "import paritylab; print(paritylab.__file__)"
    found = subprocess.run(
        [python, "-c", where], env=environment, cwd=work, check=True, capture_output=True, text=True
    )
    assert found.stdout.startswith(str(site))
    check = [python, "-m", "paritylab", "check", "hg1-lemma14-sign", "--effort", "quick"]
    subprocess.run([*check, "--report", "page"], env=environment, cwd=work, check=True)
    assert (work / "page" / "index.html").exists()
    assert (site / "paritylab" / "py.typed").exists()
    assert (site / "paritylab" / "claims" / "engine" / "recorded.json").exists()
