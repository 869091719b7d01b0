"""The pages: who labels and how far, one task at a time, and files of labels.

Forms work without the script, which adds keys alone. Nothing is loaded from elsewhere. Requests to change something
that come from another site are refused, and so are those that name another host than the one that is served, where
that is this machine alone.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ringtrue.annotate.session import Session, check_name
from ringtrue.annotate.store import Answered
from ringtrue.annotate.tasks import Shown, Task, missing, sensible
from ringtrue.errors import InputError

_LOCAL = ["127.0.0.1", "localhost", "[::1]", "::1"]
_LONGEST = 100_000  # bytes of a form
_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'self'"
_WORD = re.compile(r"\w+")


def make_app(session: Session, *, local: bool = True) -> Starlette:
    """The application; `local` where it is served to this machine alone."""
    pages = _Pages(session)
    return Starlette(
        routes=[
            Route("/", pages.start),
            Route("/", pages.enter, methods=["POST"]),
            Route("/labels/{name}", pages.labels),
            Route("/by/{annotator}", pages.go_on),
            Route("/by/{annotator}/{number:int}", pages.task),
            Route("/by/{annotator}/{number:int}", pages.answer, methods=["POST"]),
            Mount("/static", StaticFiles(packages=[("ringtrue.annotate", "static")])),
        ],
        middleware=[
            *([Middleware(TrustedHostMiddleware, allowed_hosts=_LOCAL)] if local else []),
            Middleware(BaseHTTPMiddleware, dispatch=_guarded),
        ],
        exception_handlers={InputError: pages.refused},
    )


async def _guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse what another site sends, and let pages load nothing from elsewhere."""
    origin = request.headers.get("origin")
    if request.method == "POST" and origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        return PlainTextResponse("This request comes from another site.", 403)
    response = await call(request)
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


class _Pages:
    """What each address answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        loader = PackageLoader("ringtrue.annotate")
        self._templates = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        self._templates.filters["shared"] = _marked

    def start(self, request: Request) -> Response:
        """Who labels, how far everybody is, and what labels mean."""
        return self._page("start.html", progress=self._session.progress(), problem="")

    async def enter(self, request: Request) -> Response:
        """Somebody says a name."""
        name = check_name((await _form(request)).get("annotator", "").strip())
        return RedirectResponse(f"/by/{quote(name)}", 303)

    def go_on(self, request: Request) -> Response:
        """To the first task without an answer, or back to the start with all done."""
        annotator = check_name(request.path_params["annotator"])
        number = self._session.next(annotator)
        return RedirectResponse("/" if number is None else f"/by/{quote(annotator)}/{number}", 303)

    def task(self, request: Request) -> Response:
        """One task, with the answer that was given before, if any."""
        annotator, number, task = self._asked(request)
        before = self._session.store.answered(annotator).get(task.key)
        return self._task(annotator, number, task, before or Answered(task.given), saved=before is not None)

    async def answer(self, request: Request) -> Response:
        """Keep an answer and go to the next task; where one is missing, ask again."""
        form = await _form(request)
        return await run_in_threadpool(self._answer, request, form)

    def labels(self, request: Request) -> Response:
        """A person's labels as a file."""
        name = Path(request.path_params["name"])
        annotator = check_name(name.stem)
        if annotator not in self._session.store.annotators():
            raise InputError(f"nobody called {annotator} has answered anything yet.")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name.name
            self._session.write(annotator, path)
            content = path.read_bytes()
        headers = {"Content-Disposition": f'attachment; filename="{name.name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    def refused(self, request: Request, error: Exception) -> Response:
        """What cannot be done, in words, on the start page."""
        return self._page("start.html", 400, progress=self._session.progress(), problem=str(error))

    def _answer(self, request: Request, form: Mapping[str, str]) -> Response:
        annotator, number, task = self._asked(request)
        answered = Answered(sensible(task, form), form.get("comment", "").strip())
        problem = missing(task, answered.answers)
        if problem is not None:
            return self._task(annotator, number, task, answered, problem=f"Not saved, an answer is missing: {problem}")
        self._session.store.save(annotator, task.key, answered)
        following = self._session.next(annotator, after=number)
        return RedirectResponse("/" if following is None else f"/by/{quote(annotator)}/{following}", 303)

    def _asked(self, request: Request) -> tuple[str, int, Task]:
        """The person, the number and the task of an address."""
        annotator, number = check_name(request.path_params["annotator"]), request.path_params["number"]
        tasks = self._session.work.tasks
        if not 1 <= number <= len(tasks):
            raise InputError(f"there is no task {number}; there are {len(tasks)}.")
        return annotator, number, tasks[number - 1]

    def _task(
        self, annotator: str, number: int, task: Task, answered: Answered, *, problem: str = "", saved: bool = False
    ) -> Response:
        done = len(self._session.done(annotator))
        known = {"annotator": annotator, "number": number, "task": task, "answered": answered, "done": done}
        return self._page("task.html", 422 if problem else 200, problem=problem, saved=saved, **known)

    def _page(self, template: str, status: int = 200, **known: object) -> Response:
        work = self._session.work
        page = self._templates.get_template(template)
        return HTMLResponse(
            page.render(work=work, total=len(work.tasks), file=self._session.file.name, **known), status
        )


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; the last of a name counts."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LONGEST:
            raise InputError(f"a form of more than {_LONGEST:,} bytes was sent; shorten the comment.")
    fields = parse_qs(body.decode(errors="replace"), keep_blank_values=True)
    return {name: values[-1] for name, values in fields.items()}


def _marked(shown: Shown, first: Shown) -> Markup:
    """A text whose words are marked where the first text has them too."""
    if not shown.marked:
        return escape(shown.text)
    known = {word.lower() for word in _WORD.findall(first.text)}
    parts, end = [], 0
    for found in _WORD.finditer(shown.text):
        if found[0].lower() in known:
            parts += [escape(shown.text[end : found.start()]), Markup("<mark>{}</mark>").format(found[0])]
            end = found.end()
    return Markup("").join([*parts, escape(shown.text[end:])])
