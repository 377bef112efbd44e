"""One memory's life: found by id, placed, merged, linked, marked, weighed, buried."""
