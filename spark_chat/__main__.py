"""Run as `python -m spark_chat`."""

from spark_chat.cli.main import main

main()
