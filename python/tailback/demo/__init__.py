"""The demo: three congestion controls on one network."""
