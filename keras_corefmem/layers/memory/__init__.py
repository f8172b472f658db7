"""Entity memory, episodic memory, end-to-end memory and query reduction."""
