"""Models by name: from this machine's model cache, else from the hub."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from ringtrue.errors import MissingModelError

UNUSED = ("onnx/*", "openvino/*", "*.onnx", "*.ot", "*.h5", "*.msgpack", "*.tflite")


@lru_cache(maxsize=16)
def fetch(*names: str, hint: str, unused: tuple[str, ...] = UNUSED) -> Path:
    """The folder of the first of these names that there is; what the machine has already is not asked for again.

    The last name is the one that was given, and `hint` says what to do instead; `unused` files are not fetched.
    """
    for local in (True, False):
        for name in names:
            try:
                return Path(snapshot_download(name, local_files_only=local, ignore_patterns=list(unused)))
            except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError):
                continue
    raise MissingModelError(
        f"model {names[-1]!r} is neither a folder nor in this machine's model cache, and the hub does not give it; "
        f"check the name, or download it on a machine with a connection and {hint}"
    )
