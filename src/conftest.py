"""Which files under src/ are looked at for doctests."""

#: Counterexamples are scripts: the tests of claims run them.
collect_ignore_glob = ["paritylab/claims/*/counterexamples/*"]
