"""Window operators that keep a window's rows until it closes: kernels in event time."""
from __future__ import annotations
def aggregate_windows(*a):
    from ..plan.errors import UnsupportedError
    raise UnsupportedError("this window aggregate")
def attach_sessions(*a):
    from ..plan.errors import UnsupportedError
    raise UnsupportedError("this window aggregate")
