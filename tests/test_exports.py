from __future__ import annotations

import subprocess
import sys

import ringtrue


def test_public_names_are_sorted_few_and_there():
    assert ringtrue.__all__ == sorted(ringtrue.__all__, key=lambda name: (name[0].islower(), name[1:2].islower(), name))
    assert len(ringtrue.__all__) <= 12
    assert set(ringtrue.__all__) == set(ringtrue._HOMES)
    for name in ringtrue.__all__:
        assert getattr(ringtrue, name) is not None


def test_unknown_names_are_attribute_errors():
    assert not hasattr(ringtrue, "nothing_of_that_name")


def test_import_is_light():
    heavy = "numpy polars torch scipy ir_measures ir_datasets pyarrow rich"
    code = f"import sys, ringtrue, ringtrue.cli.app; print([m for m in {heavy.split()} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
