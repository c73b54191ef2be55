"""Kernels of Continua over NumPy arrays; every argument is checked. Made by tools/stub.py."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray

from continua.grid.blocks import Lattice
from continua.transfers.plan import Plan


class Particles(Protocol):
    """Columns of a particle set, component-major; those that nobody asked for have no rows."""

    x: NDArray
    v: NDArray
    C: NDArray
    F: NDArray
    mass: NDArray
    volume: NDArray
    state: NDArray
    ids: NDArray[numpy.int32]
    tau: NDArray
    modes: NDArray
    count: int


class MaterialParameters(Protocol):
    """Uniform values (n,), or rows (n,) of the state where they differ between particles."""

    @property
    def values(self) -> NDArray: ...
    @property
    def rows(self) -> NDArray[numpy.int32]: ...


Samples = Sequence[tuple[NDArray, NDArray, float] | None]

def set_threads(n: int) -> None:
    """Number of threads used by all kernels."""

def threads() -> int: ...

def build_info() -> dict[str, Any]: ...

def polar_svd(F: NDArray, U: NDArray, s: NDArray, V: NDArray) -> None: ...

def rotation(F: NDArray, R: NDArray) -> None: ...

def differentials(F: NDArray, dF: NDArray, dcof: NDArray, dR: NDArray, dU: NDArray, ds: NDArray, dV: NDArray) -> None: ...

def material_catalogue() -> list[Any]: ...

def material_energy(name: str, F: NDArray, parameters: NDArray, state: NDArray, out: NDArray) -> None: ...

def material_piola(name: str, F: NDArray, parameters: NDArray, state: NDArray, out: NDArray) -> None: ...

def material_differential(name: str, F: NDArray, dF: NDArray, parameters: NDArray, state: NDArray, positive: bool, out: NDArray) -> None: ...

def material_kirchhoff(name: str, F: NDArray, grad_v: NDArray, parameters: NDArray, state: NDArray, out: NDArray) -> None: ...

def material_flow(name: str, F: NDArray, dt: float, grad_v: NDArray, parameters: NDArray, state: NDArray) -> None: ...

def speed_limits(name: str, dimension: int, particles: Particles, parameters: MaterialParameters) -> tuple[Any, ...]: ...

class Order:
    """Particles sorted by block, see continua.grid.blocks."""

    def __init__(self) -> None: ...

    @staticmethod
    def of(keys: NDArray, offsets: NDArray, order: NDArray) -> Order: ...

    def sort(self, x: NDArray, count: int, lattice: Lattice, dimension: int, degree: int) -> None: ...

    @property
    def count(self) -> int: ...

    @property
    def bad(self) -> int: ...

    @property
    def blocks(self) -> int: ...

    @property
    def keys(self) -> NDArray: ...

    @property
    def offsets(self) -> NDArray: ...

    @property
    def order(self) -> NDArray: ...

class Links:
    """
    Tiles of sorted particles on the blocks of a grid, see continua.grid.blocks.
    """

    @property
    def reach(self) -> NDArray: ...

    @property
    def sources(self) -> NDArray: ...

def grid_blocks(particle_keys: Sequence[NDArray[numpy.uint64]], lattice: Lattice, dimension: int, rim: bool) -> NDArray: ...

def link_blocks(order: Order, node_keys: NDArray, lattice: Lattice, dimension: int) -> Links: ...

def neighbour_blocks(keys: NDArray, lattice: Lattice, dimension: int) -> NDArray: ...

def node_coordinates(keys: NDArray, dimension: int) -> NDArray: ...

def momentum_to_velocity(nodes: NDArray, dimension: int, increment: Sequence[float]) -> None: ...

def scatter(particles: Particles, parameters: MaterialParameters, material: str, lattice: Lattice, order: Order, plan: Plan, links: Links, dimension: int, degree: int, gradient: bool, dt: float, momentum: bool, stress: bool, add: bool, nodes: NDArray) -> None: ...

def gather(particles: Particles, out: Particles, parameters: MaterialParameters, material: str, lattice: Lattice, order: Order, plan: Plan, links: Links, velocity: NDArray, change: NDArray | None, dimension: int, degree: int, mls: bool, dt: float, exponential: bool) -> dict[str, float]: ...

def particle_sums(particles: Particles, lattice: Lattice, plan: Plan, dimension: int, degree: int, elastic: NDArray | None, staggered: bool) -> dict[str, float]: ...

collider_columns: int = 32

def push_out(particles: Particles, order: Order, lattice: Lattice, dimension: int, depth: float, travel: float, table: NDArray, samples: Samples, impulses: NDArray) -> int: ...

def rigid_impulses(mobility: NDArray, twist: NDArray, arms: NDArray, normals: NDArray, velocities: NDArray, targets: NDArray, frictions: NDArray, held: NDArray, impulses: NDArray, tolerance: float, sweeps: int) -> int: ...

def collider_surface(table: NDArray, samples: Samples, points: NDArray, phi: NDArray, normal: NDArray) -> None: ...

def collision_company(x: NDArray, normals: NDArray, bodies: NDArray, lattice: Lattice, degree: int, facing: float, out: NDArray) -> None:
    """Which points share nodes with those of other bodies, or with such that face them."""

def resolve_fields(fields: Sequence[Any], rules: Sequence[Any], lattice: Lattice, dimension: int, degree: int, dt: float, impulses: NDArray, contacts: NDArray, table: NDArray, samples: Samples, wall_impulses: NDArray, wall_contacts: NDArray, law: Any | None) -> None:
    """Contact of continua with each other and with obstacles, in place."""

def obstacle_contacts(field: Any, lattice: Lattice, dimension: int, degree: int, table: NDArray, samples: Samples, law: Any | None) -> tuple[Any, ...]:
    """Nodes of a continuum that obstacles may touch."""

def pair_contacts(fields: Sequence[Any], rules: Sequence[Any], lattice: Lattice, dimension: int, degree: int) -> tuple[Any, ...]:
    """Nodes that continua share, with normals and gaps."""

def resolve_meeting(mass: NDArray, velocity: NDArray, pairs: NDArray, normals: NDArray, closing: NDArray, friction: NDArray, impulses: NDArray) -> None:
    """The law of contact between several continua at one node."""

def mesh_signed_distance(vertices: NDArray, faces: NDArray, points: NDArray) -> NDArray[numpy.float64]:
    """
    Signed distance (N,) float64 [m], negative inside, from points (N, 3) float64 to the closed, outward-facing
    triangle mesh vertices (V, 3) float64, faces (F, 3) int32. All arrays C-contiguous.
    """

def poisson_disk(blocks: NDArray, seed: int) -> NDArray[numpy.float64]:
    """
    Poisson-disk points (N, d) float64, at least 1 apart, in the blocks (2 wide, lowest corner at the origin) whose
    entry in blocks (n, m) or (n, m, k) uint8 is not zero.
    """

def scatter_faces(particles: Particles, lattice: Lattice, order: Order, plan: Plan, links: Links, dimension: int, degree: int, add: bool, momentum: NDArray, mass: NDArray) -> None: ...

def gather_faces(particles: Particles, out: Particles, lattice: Lattice, order: Order, plan: Plan, links: Links, velocity: NDArray, change: NDArray | None, shift: NDArray | None, dimension: int, degree: int, dt: float, crowded: float = 0.0, seed: int = 0) -> dict[str, float]: ...

def face_velocities(nodes: NDArray, mass: NDArray, dimension: int, increment: Sequence[float], valid: NDArray) -> None: ...

def liquid_cells(mass: NDArray, open: NDArray, neighbours: NDArray, dimension: int, fluid: NDArray) -> None: ...

def cell_outflow(velocity: NDArray, open: NDArray, wall: NDArray, fluid: NDArray, neighbours: NDArray, dimension: int, out: NDArray) -> float: ...

def subtract_differences(potential: NDArray, fluid: NDArray, distance: NDArray | None, open: NDArray, neighbours: NDArray, dimension: int, overwrite: bool, velocity: NDArray, valid: NDArray) -> None: ...

def extrapolate_faces(velocity: NDArray, valid: NDArray, neighbours: NDArray, dimension: int, layers: int) -> None: ...

def carry_cells(known: NDArray, values: NDArray, factor: float, keys: NDArray, dimension: int, cells: NDArray) -> None: ...

def accelerate_faces(velocity: NDArray, dimension: int, increment: Sequence[float]) -> None: ...

def fastest_face(velocity: NDArray, dimension: int) -> float: ...

def surface_cells(nodes: NDArray, open: NDArray, neighbours: NDArray, dimension: int, degree: int, full: float, fill: NDArray, distance: NDArray, fluid: NDArray) -> float: ...

def crowded_cells(fill: NDArray, distance: NDArray, fluid: NDArray, open: NDArray, neighbours: NDArray, dimension: int, degree: int, out: NDArray) -> None: ...

class PoissonSystem:
    """
    Symmetric system on the unknown cells of a block-sparse grid, see continua.flow.pressure.
    """

    def __init__(self, keys: NDArray, lattice: Lattice, dimension: int, fluid: NDArray, coupling: NDArray, diagonal: NDArray | None = None, distance: NDArray | None = None, neighbours: NDArray | None = None) -> None: ...

    def label_open_parts(self, labels: NDArray) -> int: ...

    def solve(self, rhs: NDArray, phi: NDArray, tolerance: float, max_iterations: int) -> dict[str, Any]: ...

    def apply(self, phi: NDArray, out: NDArray) -> None: ...

    def precondition(self, r: NDArray, z: NDArray) -> None: ...

def spread_labels(labels: NDArray, scratch: NDArray, neighbours: NDArray, dimension: int, layers: int) -> None: ...

def part_momenta(keys: NDArray, neighbours: NDArray, labels: NDArray, fluid: NDArray, open: NDArray, centres: NDArray, mass: NDArray, velocity: NDArray, dimension: int, gram: NDArray, momentum: NDArray) -> None: ...

def subtract_motions(keys: NDArray, neighbours: NDArray, labels: NDArray, fluid: NDArray, open: NDArray, centres: NDArray, motions: NDArray, dimension: int, velocity: NDArray) -> None: ...

class SolidMemory:
    """
    What is known of solids that rest, by block. Whoever keeps one forgets it when the table changes.
    """

    def __init__(self) -> None: ...

    def forget(self) -> None: ...

    @property
    def nbytes(self) -> int: ...

def solid_faces(keys: NDArray, lattice: Lattice, dimension: int, table: NDArray, samples: Samples, open: NDArray, wall: NDArray, owner: NDArray, memory: SolidMemory | None = None) -> None: ...

def constrain_faces(velocity: NDArray, open: NDArray, reached: NDArray, keys: NDArray, lattice: Lattice, dimension: int, neighbours: NDArray, table: NDArray, samples: Samples, memory: SolidMemory | None = None) -> None: ...

def wall_impulses(pressure: NDArray, fluid: NDArray, open: NDArray, owner: NDArray, keys: NDArray, lattice: Lattice, dimension: int, neighbours: NDArray, table: NDArray, before: NDArray, samples: Samples, gravity: NDArray, dt: float, scale: float, impulses: NDArray) -> None: ...

def solve_viscosity(keys: NDArray, lattice: Lattice, dimension: int, neighbours: NDArray, velocity: NDArray, fluid: NDArray, open: NDArray, wall: NDArray, noslip: NDArray, nu: float | NDArray, dt: float, tolerance: float, max_iterations: int) -> dict[str, Any]:
    """
    One implicit step of viscosity on the liquid's faces; iterations and the relative residual.
    """

class MeshElements:
    """Linear finite elements, see continua.mesh.elements."""

    def __init__(self, points: NDArray, cells: NDArray, material: str, parameters: NDArray, state: NDArray) -> None: ...

    def energy(self, x: NDArray) -> float: ...

    def gradient(self, x: NDArray, out: NDArray) -> None: ...

    def hessian(self, x: NDArray, positive: bool, out: NDArray) -> None: ...

    def product(self, hessian: NDArray, dx: NDArray, out: NDArray) -> None: ...

    def diagonal(self, hessian: NDArray, out: NDArray) -> None: ...

    def hessian_size(self) -> int: ...

    def pattern(self) -> tuple[Any, ...]: ...

    def set_parameters(self, values: NDArray) -> None: ...

    def set_state(self, values: NDArray) -> None: ...

    def state(self, out: NDArray) -> None: ...

    def set_inverse_edges(self, values: NDArray) -> None: ...

    def inverse_edges(self, out: NDArray) -> None: ...

    def volumes(self, out: NDArray) -> None: ...

    def deformation(self, x: NDArray, out: NDArray) -> None: ...

    def damping(self, x: NDArray, green: bool, out: NDArray) -> None: ...

    def flow(self, x: NDArray, v: NDArray, dt: float) -> None: ...

class MeshSprings:
    """Springs between nodes, see continua.mesh.springs."""

    def __init__(self, nodes: int, dimension: int, ends: NDArray, stiffness: NDArray, length: NDArray) -> None: ...

    def energy(self, x: NDArray) -> float: ...

    def gradient(self, x: NDArray, out: NDArray) -> None: ...

    def hessian(self, x: NDArray, positive: bool, out: NDArray) -> None: ...

    def product(self, hessian: NDArray, dx: NDArray, out: NDArray) -> None: ...

    def diagonal(self, hessian: NDArray, out: NDArray) -> None: ...

    def hessian_size(self) -> int: ...

    def pattern(self) -> tuple[Any, ...]: ...

class MeshRods:
    """Discrete elastic rods, see continua.mesh.rods."""

    def __init__(
        self,
        points: NDArray,
        offsets: NDArray,
        directors: NDArray,
        stretching: float,
        bending: tuple[float, float],
        twisting: float,
    ) -> None: ...

    def energy(self, x: NDArray) -> float: ...

    def gradient(self, x: NDArray, out: NDArray) -> None: ...

    def hessian(self, x: NDArray, positive: bool, out: NDArray) -> None: ...

    def product(self, hessian: NDArray, dx: NDArray, out: NDArray) -> None: ...

    def diagonal(self, hessian: NDArray, out: NDArray) -> None: ...

    def hessian_size(self) -> int: ...

    def pattern(self) -> tuple[Any, ...]: ...

    def edge_blocks(self, hessian: NDArray, own: NDArray, before: NDArray) -> None: ...

    def angle_blocks(self, hessian: NDArray, coupling: NDArray, factors: NDArray) -> None: ...

    def factor(self, x: NDArray, weight: float, added: NDArray, factors: NDArray) -> None: ...

    def solve(self, factors: NDArray, r: NDArray, out: NDArray) -> None: ...

    def accept(self, x: NDArray) -> None: ...

    def state(self, tangents: NDArray, directors: NDArray, twist: NDArray) -> None: ...

    def set_state(self, tangents: NDArray, directors: NDArray, twist: NDArray) -> None: ...

    def hold(self, edges: NDArray, along: NDArray, directors: NDArray) -> None: ...

    def angles(self, x: NDArray, out: NDArray) -> None: ...


def tangent_rows(material: str, dimension: int) -> int: ...

def implicit_energy(particles: Particles, parameters: MaterialParameters, material: str, lattice: Lattice, order: Order, links: Links, velocity: NDArray, dimension: int, degree: int, dt: float) -> float:
    """
    Potential of an implicit step at node velocities [J]; inf where a particle is not admissible.
    """

def implicit_forces(particles: Particles, parameters: MaterialParameters, material: str, lattice: Lattice, order: Order, links: Links, velocity: NDArray, dimension: int, degree: int, dt: float, add: bool, nodes: NDArray) -> None:
    """Its gradient with respect to the node velocities [N s]."""

def implicit_prepare(particles: Particles, parameters: MaterialParameters, material: str, lattice: Lattice, order: Order, links: Links, velocity: NDArray, dimension: int, degree: int, dt: float, positive: bool, tangents: NDArray) -> None:
    """
    What implicit_product needs at these velocities; positive removes negative eigenvalues per particle.
    """

def implicit_product(particles: Particles, lattice: Lattice, order: Order, links: Links, direction: NDArray, dimension: int, degree: int, tangents: NDArray, add: bool, nodes: NDArray) -> None:
    """Second derivative times a node field."""

def implicit_diagonal(particles: Particles, parameters: MaterialParameters, material: str, lattice: Lattice, order: Order, links: Links, dimension: int, degree: int, dt: float, add: bool, nodes: NDArray) -> None:
    """Diagonal of the second derivative for undeformed particles [kg]."""

def implicit_positions(particles: Particles, out: Particles, lattice: Lattice, keys: NDArray, order: Order, velocity: NDArray, dimension: int, degree: int, dt: float) -> dict[str, float]:
    """
    Solves x' = x + dt v(x') into out.x, in block order; nodes whose last channel is zero do not count.
    """

def gather_values(particles: Particles, lattice: Lattice, order: Order, links: Links, nodes: NDArray, dimension: int, degree: int, values: NDArray) -> None:
    """Node vectors at the particles, into values."""

def gather_gradients(particles: Particles, lattice: Lattice, order: Order, links: Links, nodes: NDArray, dimension: int, degree: int, values: NDArray) -> None:
    """Gradients of node vectors at the particles, into values (d d, capacity)."""

def scatter_matrices(particles: Particles, lattice: Lattice, order: Order, links: Links, values: NDArray, dimension: int, degree: int, add: bool, nodes: NDArray) -> None:
    """Sums of matrices times the gradients of the weights."""

def scatter_values(particles: Particles, lattice: Lattice, order: Order, links: Links, values: NDArray, dimension: int, degree: int, squared: bool, add: bool, nodes: NDArray) -> None:
    """Sums of particle vectors at nodes, with the weights or their squares."""

class CollisionDetector:
    """Finds nodes inside a mesh, see continua.mesh.collision."""

    def __init__(self, rest: NDArray, cells: NDArray, facets: NDArray, own_body: bool) -> None: ...

    def find(self, x: NDArray) -> NDArray: ...

class CollisionPairs:
    """Points below facets, see continua.mesh.collision."""

    def __init__(self, x: NDArray, pairs: NDArray, stiffness: float, epsilon: float) -> None: ...

    def energy(self) -> float: ...

    def gradient(self, out: NDArray) -> None: ...

    def product(self, dx: NDArray, out: NDArray) -> None: ...

    def diagonal(self, out: NDArray) -> None: ...

    def geometry(self) -> tuple[Any, ...]: ...

def dot(a: NDArray[numpy.float64], b: NDArray[numpy.float64]) -> float:
    """
    Sum of products over all entries; the same bits for any number of threads.
    """

def add_multiple(y: NDArray, factor: float, x: NDArray[numpy.float64]) -> None:
    """y += factor x"""

def scale_and_add(y: NDArray, factor: float, x: NDArray[numpy.float64]) -> None:
    """y = factor y + x"""

def to_nodes(x: NDArray, at: NDArray, nodes: NDArray) -> None:
    """Vectors (n, 3) into the first channels of some nodes; the others stay."""

def from_nodes(nodes: NDArray, at: NDArray, factor: float, mass: NDArray, x: NDArray, out: NDArray) -> None:
    """mass x + factor times the nodes, (n, 3), at some nodes."""

class MeshOnGrid:
    """
    Inverse of D + W^T K W, for meshes whose points move with nodes of a grid.
    """

    def __init__(self, at: NDArray, weight: NDArray, first: NDArray, column: NDArray, values: NDArray, x: NDArray, inverse: NDArray, mass: NDArray) -> None: ...

    def work(self) -> float:
        """Multiplications that factorise takes."""

    def factorise(self, first: NDArray, column: NDArray, values: NDArray) -> None: ...

    def apply(self, r: NDArray, out: NDArray) -> None: ...

def nearby_segments(x: NDArray, motion: NDArray, segments: NDArray, distance: float, along: NDArray, skip: float) -> NDArray:
    """Pairs of segments closer than a distance, now or on the way, ascending (any, 2)."""

def crossed_segments(before: NDArray, after: NDArray, segments: NDArray, along: NDArray, skip: float) -> tuple[Any, ...]:
    """
    Pairs of segments that went through each other (any, 2), and how often (any,).
    """

def closest_segment_points(x: NDArray, segments: NDArray, pairs: NDArray, parameters: NDArray, distance: NDArray, normal: NDArray) -> None:
    """
    Where pairs of segments are closest, how close, and the direction from the first to the second.
    """

def segment_impulses(segments: NDArray, pairs: NDArray, parameters: NDArray, normal: NDArray, allowed: NDArray, friction: NDArray, sweeps: int, inverse_mass: NDArray, v: NDArray, impulse: NDArray, pressed: NDArray) -> int:
    """
    Sweeps of impulses between pairs that approach faster than allowed, into v, impulse, pressed; the number of sweeps.
    """

def surface_stencils(x: NDArray, v: NDArray, dt: float, facets: NDArray, edges: NDArray, points: NDArray, held: NDArray, distance: float, of_edges: bool) -> NDArray:
    """
    Vertices of facets and points, or of two edges, that may come within a distance on the way (any, d + 1), ascending.
    """

def surface_meetings(x: NDArray, v: NDArray, dt: float, facets: NDArray, stencils: NDArray, of_edges: bool) -> tuple[Any, ...]:
    """
    When stencils first meet on the way as parts of the step (any,), 2 for never; weights (any, d + 1) and normals (any, d) there.
    """

def facet_crossings(x: NDArray, facets: NDArray, points: NDArray, held: NDArray) -> NDArray:
    """Pairs of facets that go through each other (any, 2), ascending."""

def collision_impulses(x: NDArray, dt: float, facets: NDArray, edges: NDArray, points: NDArray, held: NDArray, inverse_mass: NDArray, part: NDArray, friction: NDArray, gap: float, exact: bool, most: int, stick_after: int, v: NDArray, impulse: NDArray) -> tuple[Any, ...]:
    """
    Impulses until nothing meets on the way, into v and impulse: hits, iterations, and whether nothing met at last.
    """

def proximity_impulses(x: NDArray, dt: float, stencils: NDArray, of_edges: bool, inverse_mass: NDArray, part: NDArray, friction: NDArray, thickness: float, stiffness: float, exact: bool, v: NDArray, impulse: NDArray) -> int:
    """
    Impulses of springs between stencils that are closer than a thickness, into v and impulse; how many acted.
    """
