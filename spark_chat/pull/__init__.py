"""Models brought to this machine: fetched whole and checked, taken up again after a kill, or registered in place."""
