"""Many runs: intervals, and the store that keeps results."""
