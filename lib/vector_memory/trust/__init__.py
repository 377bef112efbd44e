"""Keys, signatures, Merkle trees and sealed bundles. Nothing here is imported at a start: who needs it does."""
