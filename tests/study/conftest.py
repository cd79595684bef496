"""What tests of studies share: they compile more than they compute."""

from compiling import compiled_once  # noqa: F401  (a fixture)
