"""What every use case needs.

who asks, and for what
    asker: from where something is asked: the project, its stores, what a question is limited to; what a hook asks.
    messages: requests and answers as dataclasses, whose fields say how they are read and written.
    request_fields: reads single fields of what a client sent.
    reach: what of all memories the one who asks may be given. contracts: how the user limits agents.
    aliases: names that mean the same.
the stores
    context: all parts of the daemon, handed to every use case.
    shelf: one store, a journal with the index that follows it. follow_journal: how it follows.
    whole_shelf: a store with its cold memories among all others.
    embedding: the model that makes vectors. disk_reserve: space for the day on which the disk is full.
what is shown, and taken out before
    privacy: redacts at the doors. privacy_rules: the user's rules, as their writer sees them.
    context_block: the notes that a hook shows. shown_notes: what is to be judged of them.
    delivery: takes back what nobody read.
    gate_threshold: how much worth a note must have. client_memory: what the client itself has told.
    offered_commands: which commands a fix may offer.
what is known of running sessions, in memory alone
    session_memory: one object of each kind for each session, its last words among them.
    leases: who holds what. unreadable: transcripts that took too long.
a language model, where one is set
    model_help: asks it, and takes its words if they add nothing. model_budget: what it may take in a day.
in the background
    yielding: gives way to hooks. use_counts: writes uses in batches. timings: how long answers took.
"""
