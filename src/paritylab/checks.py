"""Arguments checked at the front door; the functions come from xorfind."""

from xorfind.checks import check_kind, shortened, whole

#: The same under the name that other rooms still use.
told = shortened

__all__ = ["check_kind", "shortened", "told", "whole"]
