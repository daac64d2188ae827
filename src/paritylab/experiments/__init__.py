"""What the papers' statements are measured with: experiments that return numbers, not verdicts."""
