"""Looking at a number from time to time while something else goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from ..jvm.exceptions import is_end_of_jvm

_SECONDS = 0.5


@contextmanager
def polled(number: Callable[[], int], tell: Callable[[int], None]) -> Iterator[None]:
    """Tell what a number is, from another thread, until the block has ended."""
    ended = Event()

    def poll() -> None:
        while not ended.wait(_SECONDS):
            try:
                count = number()
            except Exception as e:
                if is_end_of_jvm(e):  # of which the block itself gets to know
                    return
                raise
            tell(count)

    thread = Thread(target=poll, name="flinkplan progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
