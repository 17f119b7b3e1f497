"""Memory of the machine: what is there, who holds it, and giving back what a model's files left in the page cache."""
