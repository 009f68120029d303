"""The store in a database: an SQLite file, or PostgreSQL for workers on many machines."""
