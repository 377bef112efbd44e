"""The command line: thin verbs that ask the daemon and print what it answers."""
