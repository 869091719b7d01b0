"""Run all measurements, or those that are named: `python -m benchmarks runs lexical`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ALL = tuple(
    sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if "if __name__" in path.read_text(encoding="utf-8")
    )
)


def main() -> int:
    """Each in a process of its own, so that memory and caches of one do not help another."""
    failed = [
        name
        for name in sys.argv[1:] or [name for name in _ALL if not name.startswith(("_", "train_"))]
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode
    ]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
