"""What the command line does without a screen, on the same driver and meters as the chat."""
