"""How it is seen: figures and the self-contained HTML page, from rows alone."""

from paritylab.report.page import read_rows, write_report

__all__ = ["read_rows", "write_report"]
