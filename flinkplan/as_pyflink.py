"""``import flinkplan.as_pyflink`` makes ``import pyflink`` find flinkplan's modules in this process.

Where the real PyFlink is installed it is left alone, with a warning; ``flinkplan.as_pyflink.install(replace=True)``
replaces it.
"""

from __future__ import annotations

import warnings

from .udf.as_pyflink import install, uninstall

__all__ = ["install", "uninstall"]

if not install():
    warnings.warn(
        "the real PyFlink is installed and is not replaced; flinkplan.as_pyflink.install(replace=True) replaces it",
        stacklevel=2,
    )
