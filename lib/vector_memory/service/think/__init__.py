"""Tools that help to think: what is stored, counted and logged, asked about work. Each answer says how many
cases it stands on."""
