"""Wire protocols: each reads requests into neutral terms and writes answers in its own."""
