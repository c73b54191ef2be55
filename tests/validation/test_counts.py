"""What the documents say about the cases of `continua validate` is true."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from continua.validation import CASES, KINDS
from continua.validation.case import VALIDATION

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/validation.md"


def text(name: str) -> str:
    """Without line breaks."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", PAGE])
def test_counts_by_kind(name: str) -> None:
    """Comparisons and calibrations are not counted among what validates."""
    kinds = Counter(case.kind for case in CASES.values())
    others = [(kinds[kind], kind) for kind in KINDS if kind not in VALIDATION and kinds[kind]]
    assert sum(kinds.values()) == len(CASES) and all(kinds.values())
    assert (
        f"{len(CASES)} cases: {kinds['closed form']} against closed forms, "
        f"{kinds['manufactured']} against manufactured solutions, {kinds['experiment']} against experiments"
        + "".join(
            f"{' and' if kind == others[-1][1] else ','} {n} {kind}{'s' if n > 1 else ''}"
            for n, kind in others
        )
    ) in text(name)


def test_the_page_has_a_row_of_every_case_and_names_every_kind() -> None:
    page = text(PAGE)
    assert [name for name in CASES if f"| {name} |" not in page] == []
    assert [kind for kind in KINDS if f"**{kind}**" not in page] == []


def test_the_page_keeps_a_list_of_changed_gates() -> None:
    """A gate that is set or changed after its result was seen is a line of this list."""
    assert "| test | before | now | reason |" in text(PAGE).split("## Gates that have changed")[1]
