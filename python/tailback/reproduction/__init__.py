"""Published experiments repeated: their runs, or a part of them, the verdicts and the report."""
