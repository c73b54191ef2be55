"""USD export: one stage with a point cloud, surface or set of curves per body and a time sample per frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from continua.errors import OutputError
from continua.io.atomic import atomic_path
from continua.io.folder import RunFolder
from continua.io.frames import FINE, BodyFrame, Frame, stored_positions
from continua.io.optional import require

_MODULES = ("Gf", "Sdf", "Usd", "UsdGeom")
PALETTE = ((0.29, 0.56, 0.85), (0.93, 0.56, 0.24), (0.42, 0.68, 0.38), (0.80, 0.36, 0.38), (0.58, 0.46, 0.72))
_SAVE_EVERY = 8  # frames; saving hands their memory back


def write_usd(path: Path, run: RunFolder, indices: list[int], report: Callable[[int, int], None]) -> None:
    """Write a run as UsdGeom.Points, Mesh and BasisCurves, in metres, y up, one time code per frame, atomically."""
    Gf, Sdf, Usd, UsdGeom = (require(f"pxr.{name}", "usd-core", "usd") for name in _MODULES)
    fps = float(run.description.get("fps") or 24.0)
    with atomic_path(path) as temporary:
        stage = _new_stage(Usd, temporary)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
        stage.SetTimeCodesPerSecond(fps)
        stage.SetFramesPerSecond(fps)
        stage.SetStartTimeCode(indices[0])
        world = UsdGeom.Xform.Define(stage, "/World")
        stage.SetDefaultPrim(world.GetPrim())
        origin = _origin(run.read_frame(indices[0]), run.dx)
        if origin.any():
            world.AddTranslateOp().Set(Gf.Vec3d(*origin.tolist()))
        prims: dict[tuple[str, int], _Body] = {}
        for done, index in enumerate(indices, 1):
            seen: dict[str, int] = {}
            shown = set()
            frame = run.read_frame(index)
            code = _time_code(frame, run, fps)
            for body in frame.bodies:
                seen[body.name] = seen.get(body.name, 0) + 1
                key = body.name, seen[body.name]
                if key not in prims:
                    prims[key] = _Body((Gf, Sdf, UsdGeom), stage, body, len(prims), run.dx, indices[0])
                prims[key].sample(body, code, origin)
                shown.add(key)
            for key in prims.keys() - shown:
                prims[key].clear(code)
            stage.SetEndTimeCode(code)
            if done % _SAVE_EVERY == 0 or done == len(indices):
                _save(stage, path)
            report(done, len(indices))


def _time_code(frame: Frame, run: RunFolder, fps: float) -> float:
    """The number of a frame, or less where the last frame of a run ends before its time."""
    start = run.description.get("start")
    since = frame.index if start is None else (frame.time - float(start)) * fps
    return since if since < frame.index - 1e-6 else float(frame.index)


def _new_stage(usd: Any, path: Path) -> Any:
    """An empty stage on disk; a path that cannot be written raises OSError, not the library's own error."""
    path.touch(exist_ok=False)
    path.unlink()
    return usd.Stage.CreateNew(str(path))


def _save(stage: Any, path: Path) -> None:
    try:
        stage.Save()
    except RuntimeError as error:  # the library tells neither the cause nor the file in words for users
        raise OutputError(
            f"cannot write {path}: free some space or choose a folder on another disk"
        ) from error


class _Body:
    """One body as UsdGeom.Points, UsdGeom.Mesh if it has a surface, or UsdGeom.BasisCurves if it is made of strands."""

    def __init__(
        self, pxr: tuple[Any, Any, Any], stage: Any, body: BodyFrame, number: int, dx: float, start: int
    ):
        self.gf, self.sdf, self.geom = pxr
        self.is_mesh, self.is_hair = body.skin() is not None, body.strands() is not None
        self.width = 0.0 if self.is_mesh else body.spacing(dx)
        if self.is_hair:
            self.width = 2 * float(body.arrays["radius"].max(initial=0.0))
        name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in body.name)
        name = name if name[:1].isalpha() else f"body_{name}"
        prim_path = f"/World/{name}"
        while stage.GetPrimAtPath(prim_path):
            prim_path += "_"
        schema = "Mesh" if self.is_mesh else "BasisCurves" if self.is_hair else "Points"
        self.prim = getattr(self.geom, schema).Define(stage, prim_path)
        self.prim.GetPrim().SetDisplayName(body.name)
        self.prim.GetPrim().SetCustomDataByKey("material", body.material)
        self.prim.CreateDisplayColorAttr([self.gf.Vec3f(*PALETTE[number % len(PALETTE)])])
        if self.is_mesh:
            self.prim.CreateSubdivisionSchemeAttr(self.geom.Tokens.none)
            self.prim.CreateDoubleSidedAttr(True)
        elif self.is_hair:
            self.prim.CreateTypeAttr(self.geom.Tokens.linear)
            self.prim.SetWidthsInterpolation(self.geom.Tokens.vertex)
        else:
            self.prim.CreateWidthsAttr(np.array([self.width], np.float32))
            self.prim.SetWidthsInterpolation(self.geom.Tokens.constant)
        self.clear(start)  # a body that appears later is empty before

    def clear(self, time: float) -> None:
        """Nothing to see at this time."""
        self._set(time, np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))
        self._set_elements(time, np.zeros(0, np.int64), np.zeros((0, 3), np.int32))
        if self.is_hair:
            self._set_strands(time, np.zeros(1, np.int64), np.zeros(0))

    def sample(self, body: BodyFrame, time: float, origin: np.ndarray) -> None:
        """The body at this time, lengths from `origin` (3,) [m]; scalar and vector fields become primvars."""
        seen, triangles = body.skin() or (np.arange(len(body)), np.zeros((0, 3), np.int32))
        x = body.x[seen] - origin[: body.x.shape[1]] if origin.any() else body.x[seen]
        self._set(time, _vectors(x), _vectors(body.v[seen]))
        self._set_elements(time, body.arrays["id"][seen], triangles)
        if (strands := body.strands()) is not None:
            self._set_strands(time, strands, body.arrays["radius"])
        for name, array in body.arrays.items():
            if name in ("x", "v", "id") or array.dtype.kind not in "bfiu":
                continue
            if array.ndim == 1:
                kind, values = self.sdf.ValueTypeNames.FloatArray, array[seen].astype(np.float32)
            elif array.ndim == 2 and array.shape[1] in (2, 3):
                kind, values = self.sdf.ValueTypeNames.Vector3fArray, _vectors(array[seen])
            else:
                continue
            self._primvar(name, kind, values, time)

    def _set(self, time: float, x: np.ndarray, v: np.ndarray) -> None:
        self.prim.CreatePointsAttr().Set(x, time)
        self.prim.CreateVelocitiesAttr().Set(v, time)
        low = x.min(axis=0) - self.width / 2 if len(x) else np.zeros(3, np.float32)
        high = x.max(axis=0) + self.width / 2 if len(x) else np.zeros(3, np.float32)
        self.prim.CreateExtentAttr().Set(np.array([low, high], np.float32), time)

    def _set_elements(self, time: float, ids: np.ndarray, triangles: np.ndarray) -> None:
        if self.is_mesh:
            self.prim.CreateFaceVertexCountsAttr().Set(np.full(len(triangles), 3, np.int32), time)
            indices = np.ascontiguousarray(triangles, np.int32).reshape(-1)
            self.prim.CreateFaceVertexIndicesAttr().Set(indices, time)
        elif not self.is_hair:
            self.prim.CreateIdsAttr().Set(ids.astype(np.int64), time)

    def _set_strands(self, time: float, strands: np.ndarray, radius: np.ndarray) -> None:
        self.prim.CreateCurveVertexCountsAttr().Set(np.diff(strands).astype(np.int32), time)
        self.prim.CreateWidthsAttr().Set((2 * radius).astype(np.float32), time)

    def _primvar(self, name: str, kind: Any, values: np.ndarray, time: float) -> None:
        name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
        name = name if not name[:1].isdigit() else f"_{name}"
        primvars = self.geom.PrimvarsAPI(self.prim)
        primvars.CreatePrimvar(name, kind, self.geom.Tokens.vertex).Set(values, time)


def _origin(frame: Frame, dx: float) -> np.ndarray:
    """Where the stage of a run with cells of dx [m] has its origin (3,) [m]: zero, or whole metres in the middle of its
    first frame if points, which are float32 in USD, could not be told apart there."""
    points = [body.x for body in frame.bodies if stored_positions(body.x, FINE * dx).dtype != np.float32]
    middle = np.zeros(3)
    if points:
        x = np.concatenate(points)
        middle[: x.shape[1]] = np.round(np.median(x, axis=0))
    return middle


def _vectors(array: np.ndarray) -> np.ndarray:
    """(N, 2) or (N, 3) as contiguous float32 (N, 3)."""
    result = np.zeros((len(array), 3), np.float32)
    result[:, : array.shape[1]] = array
    return result
