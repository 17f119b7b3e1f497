"""Kernels compiled before a chat needs them, with no model loaded, once for each version of what compiles them."""
