"""The page of `tailback view`."""
