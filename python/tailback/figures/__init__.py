"""Figures: of results, sweeps and networks, how they look, and what they read from the tables of results."""
