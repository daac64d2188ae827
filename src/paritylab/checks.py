"""Arguments checked at the front door; the functions come from xorfind."""

from xorfind.checks import check_kind, shortened, whole

__all__ = ["check_kind", "shortened", "whole"]
