"""What every claim shares: records, judges, verdicts, figures, the registry and its runner."""
