"""hcpinn: stiff, time-dependent PDEs solved by networks that meet initial and boundary data exactly."""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
