"""Transfer schemes between particles and grid."""

from continua.transfers.plan import Plan, kept_gradient, mode_order
from continua.transfers.schemes import APIC, FLIP, PIC, RPIC, AnyTransfer, PolyPIC, Transfer, as_transfer

__all__ = [
    "APIC",
    "FLIP",
    "PIC",
    "RPIC",
    "AnyTransfer",
    "Plan",
    "PolyPIC",
    "Transfer",
    "as_transfer",
    "kept_gradient",
    "mode_order",
]
