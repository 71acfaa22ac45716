"""The syntax tree of Flink SQL: frozen nodes that know where they stand."""

from ..source import NO_SPAN as NO_SPAN
from ..source import Source as Source
from ..source import Span as Span
from .alterations import *
from .core import *
from .expressions import *
from .patterns import *
from .queries import *
from .statements import *
from .stream_windows import *
