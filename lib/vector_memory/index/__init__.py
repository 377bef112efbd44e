"""Reading transcripts: lines → exchanges → drafts of memories, with a cursor between readings."""
