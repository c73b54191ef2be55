"""Transfer schemes between particles and grid."""

from continua.transfers.schemes import APIC, FLIP, PIC, AnyTransfer, Transfer, as_transfer

__all__ = ["APIC", "FLIP", "PIC", "AnyTransfer", "Transfer", "as_transfer"]
