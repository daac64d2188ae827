"""k heads on the circle: published procedures, annealing, one step, reading B off."""
