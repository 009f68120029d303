"""Sub-commands of `agent-tripwire` that work on files: what each takes, and what it does."""
