"""Names of paritylab.report; `__init__.py` loads them from here on first use."""

from .page import read_rows as read_rows, write_report as write_report
