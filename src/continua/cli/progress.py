"""How a run reports while it computes: a live bar on a terminal, lines elsewhere, nothing when quiet."""

from __future__ import annotations

from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from continua.cli import text

if TYPE_CHECKING:
    from continua.summary import Progress


class Silent:
    """Keeps the last report and shows nothing."""

    last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        self.last = progress

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Lines(Silent):
    """One line per frame, for logs and pipes."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.shown = -1

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        if progress.frame != self.shown:
            self.shown = progress.frame
            parts = [f"frame {progress.frame}/{progress.frames}", moment(progress), speed(progress)]
            if progress.eta > 0:
                parts.append(f"{text.duration(progress.eta)} left")
            print("  ".join(parts), file=self.stream, flush=True)


class Bar(Silent):
    """A bar with time left, and below it what the time step is doing and how fast."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.live import Live

        self.live: Any = Live(
            console=Console(file=stream, highlight=False), auto_refresh=False, transient=True
        )

    def __enter__(self) -> Bar:
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        self.live.update(view(progress), refresh=True)


def view(progress: Progress) -> Any:
    """Three lines for a terminal."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    head = Table.grid(padding=(0, 1), expand=True)
    head.add_column(no_wrap=True)
    head.add_column(ratio=1)
    head.add_column(no_wrap=True)
    head.add_row(
        Text(f"frame {progress.frame}/{progress.frames}", style="bold"),
        ProgressBar(total=max(progress.duration, 1e-300), completed=progress.time),
        f"{text.duration(progress.eta)} left",
    )
    details = (moment(progress), speed(progress))
    return Group(head, *(Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in details))


def moment(progress: Progress) -> str:
    """`t = 0.5 s  dt = 2.84e-04 s (elastic waves in ball)`."""
    return f"t = {progress.time:.4g} s  dt = {progress.dt:.2e} s ({text.bound(progress.bound)})"


def speed(progress: Progress) -> str:
    """`1.83 k steps/s  17.2 M particle-steps/s`."""
    return f"{text.rate(progress.steps_per_second)} steps/s  {throughput(progress)}"


def throughput(progress: Progress) -> str:
    """`17.2 M particle-steps/s`, and the same of the vertices of meshes."""
    rates = {"particle": progress.particle_steps_per_second, "vertex": progress.vertex_steps_per_second}
    parts = [f"{text.rate(value)} {what}-steps/s" for what, value in rates.items() if value]
    return ", ".join(parts) or "no material yet"


def display(stream: IO[str], *, quiet: bool) -> Silent:
    """The display that suits the stream."""
    if quiet:
        return Silent()
    return Bar(stream) if stream.isatty() else Lines(stream)
