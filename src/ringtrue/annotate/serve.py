"""Serving the annotation page until somebody stops it."""

from __future__ import annotations

import contextlib
import importlib.util
import ipaddress
import socket
from collections.abc import Callable

from ringtrue.annotate.session import Session
from ringtrue.errors import InputError, MissingExtraError


def serve(session: Session, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Answer requests until an interruption; `ready` gets the address once it can be opened."""
    require_packages()
    import uvicorn

    from ringtrue.annotate.app import make_app

    local = is_local(host)
    with _listening(host, port) as place:
        server = uvicorn.Server(uvicorn.Config(make_app(session, local=local), log_level="warning", lifespan="off"))
        ready(f"http://{'127.0.0.1' if local else host}:{place.getsockname()[1]}/")
        with contextlib.suppress(KeyboardInterrupt):  # it has stopped orderly by then
            server.run(sockets=[place])


def require_packages() -> None:
    """Name the extra where it is not installed."""
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise MissingExtraError("the annotation page", "annotate")


def is_local(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    """A socket at the address; any free port for 0."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InputError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; give another --port."
        ) from error
