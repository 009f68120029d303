"""The verdict as one HTML file that needs nothing but a browser: no script, no address, no font."""

from pytest_tripwire.gate.html.page import page

__all__ = ["page"]
