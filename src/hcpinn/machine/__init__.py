"""The machine below: files, caches, precision, background work, processes, provenance."""
