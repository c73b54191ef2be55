"""The same explicit 3D MLS-MPM step in other libraries, to measure Continua against."""
