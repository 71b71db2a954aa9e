"""Sweeps: the points of a `[sweep]` table, the processes that run them, and what they measured in a table."""
