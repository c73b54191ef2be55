"""Why a setting is refused."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """A setting and why it cannot act; key: where it stands in scene files."""

    key: str
    why: str

    def __str__(self) -> str:
        return f"{self.key} {self.why}"
