"""Who may do what, what was done, and what shows it: contracts, proofs, controls, identities, leases, votes."""
