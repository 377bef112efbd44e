"""One memory's life.

lookup: found by its id, or by a question. views: as programs see it. history: what it was before.
passages: a passage with what stood around it, taken_back: what took it back at once,
rewritten_lines: what changed since what it made. lifted_rules: what lifted a rule later.
last_session: how a session ended, by its passages.
moved_projects: memories under another name than this project's, which may be its own.

placement: where a new one goes, beside its neighbours: linked, merged (merging) or in the place of one.
exchange_versions: which of two readings of an exchange is kept. links: made by hand.
tombstones: what was purged, and is not captured again. companions: what goes with one that goes.

trust_marks: what a text may count as, by whose words it is. agent_rights: what an agent may do to it.
users_words: whether the user asked for it. proposals: what waits for the user. captured: what a review asks about.
confidence: how much it counts, told by who works with it. applied_uses: its use.
ageing_wishes: how it is to age.
"""
