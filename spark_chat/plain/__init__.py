"""The chat line by line, for pipes, screen readers and terminals that cannot be drawn on: text in, text out, on the
same session, engine, history and meters as the screen."""
