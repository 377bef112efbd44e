"""Keeping the house: backups, checks, figures, moving a project's store."""
