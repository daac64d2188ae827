"""The chain of thought: one teacher-forced step, level by level, the published models."""
