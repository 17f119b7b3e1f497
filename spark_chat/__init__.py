"""spark-chat: a terminal chat that shows true numbers and proves which optimizations are on."""

__version__ = "0.1.0"
