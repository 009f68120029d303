"""What `agent-tripwire init` looks for, and what it writes."""
