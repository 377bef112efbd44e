"""Tools that help to think: what is stored, counted and logged, asked about work. Each answer says how many
cases it stands on. docs/thinking.md tells when to ask which.

ledger: the tasks that are kept of sessions, and the form of the answers; all others stand on it.

how work goes
    like_tasks: how tasks like one went (`self_assess`), and which memories they used (`predictive_preload`).
    bottlenecks: which step fails or takes longest. performers: who does what how well.
    costs: what sessions took of their models. context_share: what they are given unasked. monitor: what was flagged.
what happened
    flow: a session's steps as a graph. causes: what came before a failure, and what mended it.
    past: a session, or memory, as it was. differences: two windows of time.
what to do
    plan: what has to be done before what. pheromones: steps that have worked. skills: such steps as files.
    workflow: steps out of a description. world_model: what to expect of a command.
    wrapup: what a session leaves. swarm: what several answers agree on. multimodal_input: what a picture shows.
whether memory holds what it says
    formal_verify: invariants over every row. measuring: how fast and how good it is.
    digital_twin: a change tried beforehand, on a store_copy.
    red_team: attacks (probes) on a scratch_installation.
"""
