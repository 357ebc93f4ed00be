"""An honest rating, with an allowance for the people who said nothing."""

from unheard._version import __version__

__all__ = ["__version__"]
