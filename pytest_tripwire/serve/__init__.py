"""Plays a case to an agent in another process or language: `agent-tripwire serve`."""
