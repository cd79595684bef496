"""The run-time type checker of the tests: as in static typing, an int passes for a float."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
