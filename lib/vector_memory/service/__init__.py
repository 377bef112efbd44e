"""The use cases: remember, recall, capture, forget, transfer. They put journal, index and embedder
to work; who asks and how the answer travels is the daemon's business."""
