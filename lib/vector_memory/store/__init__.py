"""The search index of a store: LanceDB for words, filters and many vectors, an exact matrix for
up to about 100,000 vectors. It follows the journal and can be rebuilt from it at any time."""
