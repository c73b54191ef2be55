"""The scene file that `continua new NAME` writes."""

from __future__ import annotations

import json

TEMPLATE = """\
# A Continua scene. Run it:      continua run @FILE@
# Look at the result:            continua render out/@NAME@
# Try another value:             continua run @FILE@ --set body.jelly.material.E=2e4
# All keys with their meaning:   continua schema
# Units are SI: metres, seconds, kilograms, pascals. Settings behind a "#" are optional.

title = @TITLE@

[simulation]
dx = 0.02                        # grid spacing [m]: half of it is about the distance between particles
gravity = [0.0, -9.81]           # [m/s^2]; two numbers: a 2D scene; three numbers, [0.0, -9.81, 0.0]: 3D
# precision = "double"           # or "single": half the memory
# transfer = "apic"              # or "pic", "flip:0.95", "polypic"
# integrator = "symplectic"      # or "semi-implicit", "optimization": implicit, in much longer steps
# dt = 1e-4                      # fixed time step [s]; left out: chosen at every step

[[body]]
name = "jelly"
shape = { type = "box", center = [0.0, 0.4], size = [0.3, 0.3] }            # [m]
material = { type = "fixed-corotated", E = 5e4, nu = 0.3, density = 1000 }  # [Pa], -, [kg/m^3]
velocity = { type = "rigid", linear = [0.0, 0.0], angular = 3.0, center = [0.0, 0.4] }  # [m/s], [rad/s], [m]

[[body]]
name = "ball"
shape = { type = "sphere", center = [0.05, 0.8], radius = 0.1 }
material = { type = "snow" }     # E, nu, density, compression, stretch, hardening have defaults
velocity = [0.0, -2.0]
# particles_per_cell = 4         # 8 in 3D
# sampling = "regular"           # or "jittered", "poisson"

# [[solid]]                      # a body made of a mesh instead of particles
# name = "cushion"
# mesh = { type = "box-mesh", lower = [-0.8, 0.0], upper = [-0.4, 0.2], counts = [8, 4] }
# material = { type = "neo-hookean", E = 2e4, nu = 0.4, density = 1000 }

# [[continuum]]                  # bodies of one continuum stick to each other, bodies of two push and slide;
# name = "flakes"                # a body joins it by continuum = "flakes"; left out: "main"

# [[contact]]                    # friction between two continua; left out: none
# a = "flakes"
# b = "main"
# friction = 0.3

[[collider]]
name = "ground"
type = "plane"
normal = [0.0, 1.0]              # points to the free side
point = [0.0, 0.0]
mode = "separate"                # or "slip", "sticky"
friction = 0.4                   # Coulomb coefficient

[run]
duration = 1.5                   # [s]
fps = 24                         # frames per simulated second
# checkpoint_interval = 10       # frames between checkpoints, from which "continua resume" continues

[render]
color_by = "speed"               # a particle field: speed, J, ...
# size = [1280, 720]             # [pixels]
"""


def template(name: str = "scene") -> str:
    """Commented TOML text of a small scene that loads and runs: a spinning jelly and a snowball, in 2D."""
    title = name.replace("-", " ").replace("_", " ").capitalize()
    quoted = json.dumps(title, ensure_ascii=False)
    return TEMPLATE.replace("@FILE@", f"{name}.toml").replace("@NAME@", name).replace("@TITLE@", quoted)
