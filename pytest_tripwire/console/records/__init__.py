"""`agent-tripwire records`: what an operator does with interrupted runs."""
