"""What every use case needs: the context, the stores, requests, privacy, the block that is shown."""
