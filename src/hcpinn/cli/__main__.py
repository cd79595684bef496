"""`python -m hcpinn.cli`."""

from . import main

main()
