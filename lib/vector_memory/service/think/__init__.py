"""Tools that help to think: what is stored, counted and logged, asked about work. Each answer says how many
cases it stands on. docs/thinking.md tells when to ask which.

ledger: the tasks that are kept of sessions, and the form of the answers; all others stand on it.

how work goes
    specialization: who does what how well, and which step fails or takes longest.
    costs: what sessions took of their models, and what they are given unasked. monitor: what was flagged.
what happened
    debugging: a session's steps as a graph; what came before a failure, and what mended it.
    time_travel: a session, or memory, as it was, and two windows of time.
what to do
    planning: what has to be done before what, how tasks like one went, and which memories they used.
    trails_and_world: steps that have worked, and what to expect of a command. workflow: steps as files, or out of
    a description.
    wrapup: what a session leaves. swarm: what several answers agree on. multimodal_input: what a picture shows.
whether memory holds what it says
    formal_verify: invariants over every row. measuring: how fast and how good it is.
    digital_twin: a change tried beforehand, on a store_copy.
    red_team: attacks (probes) on a scratch installation.
"""
