"""The one resident process of a user and data home: socket, dispatch, background work, idle exit."""
