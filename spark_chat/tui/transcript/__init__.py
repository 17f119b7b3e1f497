"""The conversation on the screen."""

from spark_chat.tui.transcript.widget import Restored, Transcript

__all__ = ["Restored", "Transcript"]
