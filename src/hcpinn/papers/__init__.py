"""Studies of published papers, each in a room of its own, as a reader's own study would be."""
