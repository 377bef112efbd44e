"""The truth of a store, in SQLite. The only package that imports sqlite3."""
