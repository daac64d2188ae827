"""Rates, means, estimates, laws and thresholds of measured numbers, with their intervals."""

from paritylab.statistics.estimates import (
    Estimate as Estimate,
    difference as difference,
    quotient as quotient,
    rate_difference as rate_difference,
    scaled as scaled,
)
from paritylab.statistics.laws import PowerLaw as PowerLaw, power_law as power_law
from paritylab.statistics.means import Mean as Mean
from paritylab.statistics.rates import (
    Method as Method,
    Rate as Rate,
    pooled as pooled,
    rate_interval as rate_interval,
    share_text as share_text,
)
from paritylab.statistics.thresholds import (
    half_point as half_point,
    half_point_estimate as half_point_estimate,
    half_point_interval as half_point_interval,
    threshold_law as threshold_law,
)
