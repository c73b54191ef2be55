"""Commands and their options; each imports what it needs only when it runs, so that help is quick."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from continua.cli.compare_command import compare
from continua.cli.material_command import material_test

EXIT_CODES = (
    "Exit codes: 0 done, 1 the run failed, 2 wrong command or scene, 70 internal error, 130 interrupted."
)

app = typer.Typer(
    name="continua",
    epilog=f"Start with: continua gallery. {EXIT_CODES}",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Precision(str, enum.Enum):
    """Number formats."""

    single = "single"
    double = "double"


class ExportFormat(str, enum.Enum):
    """File formats of `export`."""

    vtk = "vtk"
    ply = "ply"
    usd = "usd"


class MeshFormat(str, enum.Enum):
    """File formats of `mesh`."""

    ply = "ply"
    obj = "obj"
    vtk = "vtk"


Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of a run.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting of the scene, for example --set dx=0.01 --set body.material.E=2e5 "
        "(every body) --set body.ball.velocity=[0,-3] (one body). May be repeated.",
        show_default=False,
    ),
]
Frames = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Stop after this many frames.", show_default=False)
]
Duration = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Simulated time [s]; the last frame ends with it, be it shorter than the others.",
        show_default=False,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        metavar="N",
        envvar="CONTINUA_THREADS",
        help="Threads to use; all cores if left out. The result has the same bits for any number.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, all else to stderr.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
FrameList = Annotated[
    str | None,
    typer.Option("--frames", metavar="LIST", help="Frames to use, as 0,10,20-30. All if left out."),
]


def _version(show: bool) -> None:
    if show:
        from continua.cli.doctor import version

        typer.echo(f"continua {version()}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Simulate snow, jelly and other materials that meet, by material points."""


@app.command()
def run(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help='Name of a gallery scene (see "continua gallery"), a .toml file, or a .py file, which is executed.',
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Output folder; out/<scene name> if left out."),
    ] = None,
    frames: Frames = None,
    duration: Duration = None,
    overrides: Overrides = None,
    precision: Annotated[
        Precision | None, typer.Option(help="Number format; what the scene says if left out.")
    ] = None,
    threads: Threads = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the output folder.")
    ] = False,
    film: Annotated[bool, typer.Option("--film", help="Render still, film and plots after the run.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Simulate a scene and write frames, checkpoints and diagnostics.

    Ctrl-C (or SIGTERM) stops after a checkpoint has been written; "continua resume" goes on from there.
    """
    from continua.cli.run import Options, run

    return run(
        scene,
        output,
        Options(
            frames=frames, duration=duration, threads=threads, json=json, quiet=quiet, overwrite=overwrite
        ),
        overrides=list(overrides or [])
        + ([f'simulation.precision="{precision.value}"'] if precision else []),
        film=film,
    )


@app.command()
def resume(
    folder: Folder,
    frames: Frames = None,
    duration: Duration = None,
    scene: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Scene file of the run, for a Python scene with functions of its own; it is executed.",
            show_default=False,
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Execute the Python code that the run folder holds of such a scene."),
    ] = False,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Go on although the scene or a mesh file has changed, or an earlier frame is damaged.",
        ),
    ] = False,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Continue an interrupted run from its last checkpoint.

    The result has the same bits as without the interruption.
    With --frames or --duration a finished run goes on beyond its end.
    No code from the run folder is executed unless you say so.
    """
    from continua.cli.run import Options, resume

    return resume(
        folder,
        Options(
            frames=frames,
            duration=duration,
            threads=threads,
            json=json,
            quiet=quiet,
            resume=True,
            accept_changes=accept_changes,
        ),
        scene=scene,
        trust=trust,
    )


app.command()(compare)


@app.command()
def info(folder: Folder, json: Json = False) -> int:
    """Show what a run folder holds and where the time went."""
    from continua.cli.info import info

    return info(folder, as_json=json)


@app.command()
def render(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where pictures go; DIR/render if left out."),
    ] = None,
    still: Annotated[bool, typer.Option("--still", help="Draw only the still.")] = False,
    film: Annotated[bool, typer.Option("--film", help="Draw only the film.")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Draw only the plots of the diagnostics.")] = False,
    frame: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Frame of the still; the last one if left out.")
    ] = None,
    color_by: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="What gives the colour: speed, body, material or a field as J."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Width and height in pixels, as 1280x720.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(metavar="N", help="Film frames per second; real time if left out.")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Draw a still, a film and plots of a run.

    All three are drawn unless --still, --film or --plots asks for less.
    """
    from continua.cli.results import Drawing, render

    everything = not (still or film or plots)
    drawing = Drawing(
        still=still or everything,
        film=film or everything,
        plots=plots or everything,
        frame=frame,
        color_by=color_by,
        size=size,
        fps=fps,
    )
    return render(folder, output, drawing, quiet=quiet)


@app.command()
def mesh(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where meshes go; DIR/mesh if left out."),
    ] = None,
    to: Annotated[MeshFormat, typer.Option(help="File format.")] = MeshFormat.ply,
    frames: FrameList = None,
    body: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Body to mesh; all if left out. May be repeated.")
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(metavar="METRES", help="Half the particle spacing [m]; from the run if left out."),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Wrap the particles of a 3D run in triangle surfaces.

    One file is written per body and frame.
    """
    from continua.cli.results import mesh

    return mesh(folder, output, to=to.value, frames=frames, bodies=body, radius=radius, quiet=quiet)


@app.command()
def export(
    folder: Folder,
    to: Annotated[
        ExportFormat,
        typer.Option(help="vtk for ParaView, ply for point clouds, usd for Blender and Houdini."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where files go; DIR/export/FORMAT if left out."),
    ] = None,
    frames: FrameList = None,
    quiet: Quiet = False,
) -> int:
    """Write the particles of a run for other programs."""
    from continua.cli.results import export

    return export(folder, output, to=to.value, frames=frames, quiet=quiet)


@app.command()
def gallery() -> int:
    """List the scenes that come with Continua."""
    from continua.cli.scenes import gallery

    return gallery()


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the scene; NAME.toml is written.")],
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="SCENE", help="Copy a gallery scene (as NAME.py) instead of the template."
        ),
    ] = None,
) -> int:
    """Write a commented scene file to start from."""
    from continua.cli.scenes import new

    return new(name, source)


@app.command()
def schema(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; stdout if left out.")
    ] = None,
) -> int:
    """Print the JSON Schema of scene files.

    It lists every key with its meaning, unit and range; editors use it for completion.
    """
    from continua.cli.scenes import schema

    return schema(output)


@app.command()
def doctor(json: Json = False) -> int:
    """Check the installation and run a short simulation."""
    from continua.cli.doctor import doctor

    return doctor(as_json=json)


app.command("material-test")(material_test)


@app.command()
def bench(
    particles: Annotated[int, typer.Option(min=1000, metavar="N", help="Number of particles.")] = 100_000,
    precision: Annotated[Precision, typer.Option(help="Number format.")] = Precision.single,
    threads: Threads = None,
    json: Json = False,
) -> int:
    """Measure the speed of this machine in particle-steps per second."""
    from continua.cli.bench import bench

    return bench(particles=particles, precision=precision.value, threads=threads, as_json=json)


@app.command()
def validate(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAMES]...", help="Cases to run; all if left out.", show_default=False),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Coarse grids and wider gates, a few seconds each.")
    ] = False,
    show: Annotated[bool, typer.Option("--list", help="List the cases and stop.")] = False,
    threads: Threads = None,
    json: Json = False,
) -> int:
    """Compare with closed forms, manufactured solutions and experiments, with other programs and other runs.

    Every case also runs with something wrong on purpose, which must fail the same gates.
    Exits with 1 if a number falls outside its gate, or a wrong one inside.
    """
    from continua.cli.validate import listing, validate

    return listing() if show else validate(names or [], quick=quick, threads=threads, as_json=json)
