"""What `check_material` hands back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from continua.errors import MaterialError


@dataclass(frozen=True)
class Gate:
    """One rule in one dimension: how far the material is from it.

    `passed` is None where the rule does not apply (`note` says why) or is only a property, such as isotropy.
    """

    name: str
    dimension: int
    passed: bool | None
    value: float = float("nan")
    tolerance: float = float("nan")
    note: str = ""

    def __str__(self) -> str:
        verdict = {True: "ok", False: "FAILED", None: "-"}[self.passed]
        measured = "" if np.isnan(self.tolerance) else f"{self.value:9.2e}  <= {self.tolerance:7.0e}"
        note = f"  {self.note}" if self.note else ""
        return f"{verdict:>6}  {self.dimension}D  {self.name:<34} {measured:<21}{note}".rstrip()


@dataclass(frozen=True)
class Report:
    """What `check_material` found. `report["objective", 3]` is the gate of that name in 3D."""

    material: str
    gates: list[Gate] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No gate failed."""
        return not self.failures

    @property
    def failures(self) -> list[Gate]:
        """The gates that failed."""
        return [gate for gate in self.gates if gate.passed is False]

    def __getitem__(self, key: tuple[str, int]) -> Gate:
        for gate in self.gates:
            if (gate.name, gate.dimension) == key:
                return gate
        raise KeyError(f"no gate {key[0]!r} in {key[1]}D; there are {sorted({g.name for g in self.gates})}")

    def __str__(self) -> str:
        verdict = "all gates passed" if self.ok else f"{len(self.failures)} gates FAILED"
        return "\n".join([f"{self.material}: {verdict}", *map(str, self.gates)])

    def raise_if_failed(self) -> None:
        """Raise a `MaterialError` that names the failed gates."""
        if not self.ok:
            names = ", ".join(f"{g.name} in {g.dimension}D" for g in self.failures)
            raise MaterialError(f"{self.material} breaks rules ({names}); print the report for the numbers")
