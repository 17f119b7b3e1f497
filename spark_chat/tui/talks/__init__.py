"""All conversations: the list, the search, and moving from one to another."""
