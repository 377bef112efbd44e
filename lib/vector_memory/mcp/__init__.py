"""The MCP server: memory as tools of the model. It asks the daemon."""
