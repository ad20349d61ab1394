"""The explorers' own tests again, with Colab's ipywidgets."""

import subprocess

import runtime

from notebooks import ROOT


def test_the_explorers_work():
    command = [runtime.PYTHON, "-m", "pytest", "-q", "-o", "addopts=", "-o", "filterwarnings="]
    command += ["-p", "no:cacheprovider", "tests/test_explorers.py"]
    helper = runtime.variables(PYTHONPATH=str(ROOT / "src"))
    run = subprocess.run(command, cwd=ROOT, env=helper, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
