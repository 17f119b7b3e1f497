"""The message composer."""

from spark_chat.tui.composer.composer import Composer

__all__ = ["Composer"]
