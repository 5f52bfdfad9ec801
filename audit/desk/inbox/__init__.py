"""The inbox of an officer, and the notes with which one shift hands over to the next."""
