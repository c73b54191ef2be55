"""Incompressible flow on the staggered (MAC) grid."""
