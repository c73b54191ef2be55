"""What a scene file says: settings, bodies, colliders, how long to run and how to look at it.

The same classes serve TOML scene files, Python scenes, `run.json` and the JSON Schema.
All quantities are in SI units.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, model_validator
from pydantic.json_schema import SkipJsonSchema

from continua._model import PLAIN, WHOLE, Count, Finite, Flag, Fraction, NonNegative, Positive, Seed, Vector
from continua.bodies.axle import Axle
from continua.bodies.body import MAIN, RIGID, STRANDS
from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.bodies.fields import PassiveLike
from continua.bodies.scripted import Scripted
from continua.bodies.start import StartLike
from continua.bodies.variation import FieldLike
from continua.bodies.velocity import Rigid, VelocityLike
from continua.contact.boundaries import AnyBoundary
from continua.contact.colliders import AnyCollider
from continua.contact.motions import AnyMotion
from continua.contact.penalty import AnyMeshContact, AnyStrandContact, PenaltyContact
from continua.contact.strand_contact import StrandContact
from continua.continuum import Contact, Continuum
from continua.geometry.meshes import AnyCurves, AnyMesh, AnySprings, Curves, SimplexMesh, SpringMesh
from continua.geometry.shapes import AnyShape
from continua.integrators import AnyIntegrator, Symplectic
from continua.materials import AnyMaterial, Rod
from continua.plan import frame_count
from continua.scene.checks import check_scene, default_names
from continua.transfers import APIC, AnyTransfer

if TYPE_CHECKING:
    from continua.simulation import Simulation


PixelCount = Annotated[int, Field(strict=True, ge=16, le=16384), WHOLE]


class Settings(BaseModel):
    """Base of all scene tables: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class SimulationSettings(Settings):
    """Grid, time stepping and transfer; the arguments of `continua.Simulation`."""

    dx: Positive = Field(description="grid spacing [m]")
    gravity: Vector = Field(
        default=(0.0, -9.81, 0.0),
        description="gravity [m/s^2]; two numbers make the scene 2D, three make it 3D",
    )
    precision: Literal["single", "double"] = Field(
        default="double", description="number format of all particle and grid data"
    )
    transfer: AnyTransfer = Field(
        default_factory=lambda: APIC(), description="how particles and grid exchange momentum"
    )
    integrator: AnyIntegrator = Field(
        default_factory=lambda: Symplectic(), description="how velocities advance in time"
    )
    kernel: Literal["linear", "quadratic", "cubic"] | None = Field(
        default=None,
        description="B-spline of the transfer; left out: quadratic, linear for incompressible flow; no explicit step "
        "is stable everywhere with linear ones",
    )
    stress_transfer: Literal["gradient", "mls"] = Field(
        default="gradient", description="how stress becomes nodal force"
    )
    deformation: Literal["safe", "exponential"] = Field(
        default="safe",
        description="how the deformation gradient follows the velocity gradient; exponential keeps the volume of "
        "rotations but costs 2 pi omega dt of the energy per turn",
    )
    dt: Positive | None = Field(
        default=None, description="fixed time step [s]; left out: chosen at every step"
    )
    force_dt: Flag = Field(
        default=False,
        description="take dt as it is, or an elastic_cfl above 1, even where that breaks a stability bound",
    )
    cfl: Annotated[float, Field(strict=True, gt=0, lt=1), PLAIN] = Field(
        default=0.6, description="cells a particle may cross in one step"
    )
    elastic_cfl: Positive = Field(
        default=0.4,
        description="cells an elastic wave may cross in one explicit step; above 1 only with force_dt",
    )
    push_out: NonNegative | None = Field(
        default=0.5,
        description="depth [cells] beyond which particles are pushed out of colliders; Python only: None for never",
    )
    seed: Seed = Field(default=0, description="seed of all random numbers")


class Region(Settings):
    """A part of a body with other values: the same kind of material, its parameters and density its own."""

    shape: AnyShape = Field(description="particles that start, or elements that rest, inside it belong to it")
    material: AnyMaterial = Field(description="material of the same type as that of the body")


class BodySettings(Settings):
    """A piece of material: where it is, what it is made of and how it moves at the start."""

    name: str | None = Field(
        default=None, min_length=1, description="name, unique in the scene; left out: body1, body2, ..."
    )
    shape: AnyShape = Field(description="region filled with particles")
    material: AnyMaterial = Field(description="constitutive model and its parameters")
    velocity: VelocityLike | None = Field(
        default=None, description="velocity at the start [m/s]; left out: at rest"
    )
    particles_per_cell: Count | None = Field(
        default=None, description="particles per grid cell; left out: 4 in 2D, 8 in 3D"
    )
    sampling: Literal["regular", "jittered", "poisson"] = Field(
        default="regular", description="how particles fill the shape"
    )
    vary: dict[str, FieldLike] = Field(
        default_factory=dict,
        description="keys of the material that follow the position where a particle starts, each with its gradient",
    )
    regions: list[Region] = Field(
        default_factory=list,
        description="parts with other values, where vary does not act; of overlapping ones the last counts",
    )
    fields: dict[str, PassiveLike] = Field(
        default_factory=dict,
        description="passive fields such as dye that the particles carry, each a number or a gradient",
    )
    continuum: str | None = Field(
        default=None,
        min_length=1,
        description='continuum it belongs to: bodies of one stick to each other; left out: "main"',
    )


class MeshSettings(Settings):
    """What solids, springs and strands have in common."""

    name: str | None = Field(
        default=None,
        min_length=1,
        description="name, unique in the scene; left out: solid1, springs1, strands1, ...",
    )
    velocity: VelocityLike | None = Field(
        default=None, description="velocity at the start [m/s]; left out: at rest"
    )
    scripted: list[Scripted] = Field(
        default_factory=list,
        description="vertices that go where they are told; of two scripts the last counts",
    )
    start: StartLike | None = Field(
        default=None, description="where the points are at first; left out: where the mesh has them"
    )
    drag: NonNegative = Field(default=0.0, description="rate at which every velocity decays [1/s]")
    damping: NonNegative = Field(
        default=0.0,
        description="Rayleigh damping [s]: a mode of angular frequency w decays at the rate damping w^2 / 2",
    )
    contact: AnyMeshContact = Field(
        default_factory=PenaltyContact,
        description='how it meets others while it moves on its own; type = "grid": by collision particles, and type = '
        '"exact": without ever passing through, both under any integrator',
    )
    on_grid: Flag | None = Field(
        default=None,
        description="whether it moves with the grid, where it meets particles, or on its own; left out: on its own "
        'only where integrator = "optimization" and there are no particles',
    )
    continuum: str | None = Field(
        default=None,
        min_length=1,
        description='continuum it belongs to; left out: "main", with contact.type = "grid" or "exact" "solids"',
    )


class SolidSettings(MeshSettings):
    """A solid made of triangles or tetrahedra; the arguments of `continua.SolidBody`."""

    mesh: AnyMesh | SkipJsonSchema[InstanceOf[SimplexMesh]] = Field(
        description="triangles (2D) or tetrahedra (3D)"
    )
    material: AnyMaterial = Field(description="constitutive model and its parameters")
    damping_form: Literal["green", "printed"] = Field(
        default="green",
        description='how damping acts where it is deformed: "green" never slows or turns rigid motion, "printed" is as '
        "strong in any shape",
    )
    vary: dict[str, FieldLike] = Field(
        default_factory=dict,
        description="keys of the material that follow the position of an element at rest, each with its gradient",
    )
    regions: list[Region] = Field(
        default_factory=list,
        description="parts with other values, where vary does not act; of overlapping ones the last counts",
    )


class SpringSettings(MeshSettings):
    """A chain or cloth of springs; the arguments of `continua.SpringBody`."""

    springs: AnySprings | SkipJsonSchema[InstanceOf[SpringMesh]] = Field(
        description="points and what joins them"
    )
    mass: Positive | None = Field(default=None, description="total mass [kg], if no density is given")
    density: Positive | None = Field(
        default=None, description="of a sheet [kg/m^2], of springs without a sheet [kg/m]"
    )


class StrandsSettings(MeshSettings):
    """Hair, ropes and wires; the arguments of `continua.Strands`."""

    curves: AnyCurves | SkipJsonSchema[InstanceOf[Curves]] = Field(
        description="where the strands are at rest"
    )
    material: Rod = Field(description="section and elasticity")
    directors: Vector | None = Field(
        default=None,
        description="where the first half axis of an elliptic section points at rest; left out: any, without twist",
    )
    roots: AnyMotion | str | None = Field(
        default=None,
        description="what the first two points of every strand follow: a motion, the name of a body or collider, "
        '"held" or "free"; left out: fur stays in what it grows on, other strands are free',
    )
    friction: NonNegative | None = Field(
        default=None,
        description="Coulomb coefficient between strands, where neither contact nor on_grid is given; left out: 0",
    )
    contact: AnyStrandContact | None = Field(  # type: ignore[assignment]
        default=None,
        description='how they meet each other and others while they move on their own; type = "penalty": as other '
        "meshes; left out: as a continuum and by segments, unless on_grid is given",
    )
    on_grid: Flag | None = Field(
        default=None,
        description="whether they move with the grid, on which strands stick together; left out: they move on their "
        "own, if contact does not say otherwise",
    )
    continuum: str | None = Field(
        default=None,
        min_length=1,
        description='continuum it belongs to; left out: "strands", with contact.type = "penalty" or on_grid "main"',
    )

    @property
    def self_moving(self) -> bool:
        """Whether they move on their own and meet others by what they show the grid."""
        return isinstance(self.contact, StrandContact) or (self.contact is None and self.on_grid is None)

    @property
    def home(self) -> str:
        """The continuum they belong to if nothing is said."""
        return STRANDS if self.self_moving else MAIN


class RigidSettings(Settings):
    """A body that does not deform; the arguments of `continua.RigidBody`."""

    home: ClassVar[str] = RIGID

    name: str | None = Field(
        default=None, min_length=1, description="name, unique in the scene; left out: rigid1, rigid2, ..."
    )
    shape: AnyShape = Field(description="its inside; not points")
    density: Positive | None = Field(default=None, description="[kg/m^3], if no mass is given")
    mass: Positive | None = Field(default=None, description="[kg], if no density is given")
    velocity: Rigid | Vector | None = Field(
        default=None,
        description="of its middle at the start [m/s], with the spin as a table; left out: at rest",
    )
    spin: Finite | Vector | None = Field(
        default=None,
        description="angular velocity at the start [rad/s], a vector, in 2D or about an axle a number; left out: none",
    )
    axle: Axle | None = Field(
        default=None, description="axis about which it only turns; left out: it is free"
    )
    friction: NonNegative = Field(
        default=0.0, description="Coulomb coefficient with other rigid bodies of its continuum"
    )
    restitution: Fraction = Field(
        default=0.0, description="speed after an impact on a collider over that before"
    )
    size: Positive | None = Field(
        default=None,
        description="length of the facets of round shapes [m]; left out: a 32nd of the longest side",
    )
    continuum: str | None = Field(
        default=None, min_length=1, description='continuum it belongs to; left out: "rigid"'
    )


class RunSettings(Settings):
    """How long to simulate and what to keep."""

    duration: Positive = Field(default=1.0, description="simulated time [s]")
    fps: Positive = Field(default=24.0, description="frames written per simulated second [1/s]")
    checkpoint_interval: Count = Field(default=10, description="frames between two checkpoints")

    @property
    def frames(self) -> int:
        """Frames after the initial one; the last may be shorter than the others."""
        return frame_count(self.duration, self.fps)


class CameraSettings(Settings):
    """Where a 3D scene is seen from."""

    position: Vector = Field(description="where the camera is [m]")
    target: Vector = Field(description="point it looks at [m]")
    up: Vector = Field(default=(0.0, 1.0, 0.0), description="direction that points up in the picture")
    fov: Annotated[float, Field(strict=True, gt=0, lt=180), PLAIN] = Field(
        default=28.0, description="vertical angle of view [degrees]"
    )


class RenderSettings(Settings):
    """How `continua render` looks at the scene."""

    color_by: str = Field(
        default="speed",
        min_length=1,
        description='what gives the colour: "speed", "body", "material", "continuum" or a field such as "J"',
    )
    limits: tuple[Finite, Finite] | None = Field(
        default=None, description="values at the two ends of the colour scale; left out: those of the run"
    )
    hide: list[str] = Field(
        default_factory=list,
        description="bodies, meshes and emitters that are not drawn, such as clear water around ink",
    )
    size: tuple[PixelCount, PixelCount] = Field(default=(1280, 720), description="width and height [pixels]")
    camera: CameraSettings | None = Field(
        default=None, description="where a 3D scene is seen from; left out: so that all of the run is in view"
    )


class Scene(Settings):
    """A complete simulation: what there is, how it is computed, how long it runs."""

    title: str = Field(default="", description="one line that says what the scene shows")
    description: str = Field(default="", description="longer text")
    simulation: SimulationSettings = Field(description="grid, time stepping and transfer")
    body: list[BodySettings] = Field(default_factory=list, description="pieces of material")
    solid: list[SolidSettings] = Field(default_factory=list, description="solids made of a mesh")
    springs: list[SpringSettings] = Field(default_factory=list, description="chains and cloths of springs")
    strands: list[StrandsSettings] = Field(default_factory=list, description="hair, ropes and wires")
    rigid: list[RigidSettings] = Field(default_factory=list, description="bodies that do not deform")
    continuum: list[Continuum] = Field(
        default_factory=list, description="velocity fields of their own, which bodies join by name"
    )
    contact: list[Contact] = Field(default_factory=list, description="friction where continua meet")
    collider: list[AnyCollider] = Field(default_factory=list, description="rigid obstacles")
    boundary: list[AnyBoundary] = Field(default_factory=list, description="conditions on the grid")
    emitter: list[Emitter] = Field(default_factory=list, description="sources of particles")
    drain: list[Drain] = Field(default_factory=list, description="regions in which particles are removed")
    run: RunSettings = Field(default_factory=RunSettings, description="duration and output")
    render: RenderSettings = Field(default_factory=RenderSettings, description="camera and colours")

    @model_validator(mode="after")
    def _fits_together(self) -> "Scene":
        default_names(self)
        check_scene(self)
        return self

    @property
    def dimension(self) -> int:
        """2 or 3, the number of components of gravity."""
        return len(self.simulation.gravity)

    def build(self) -> "Simulation":
        """Simulation with everything that this scene names, at time 0."""
        from continua.scene.build import build

        return build(self)
