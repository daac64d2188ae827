"""Arguments checked at the front door; the functions come from xorfind."""

from xorfind.checks import check_kind, shortened, whole

#: Its old name, which some rooms still use.
told = shortened

__all__ = ["check_kind", "shortened", "told", "whole"]
