"""Our own claims: learners that work where a theorem does not reproduce."""
