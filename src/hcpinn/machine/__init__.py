"""Files, caches, precision, background tasks, processes and provenance."""
