"""`python -m hcpinn.cli`."""

from .app import main

main()
