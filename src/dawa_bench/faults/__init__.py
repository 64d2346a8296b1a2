"""Faults on purpose: runs that are killed, files and requests that are hostile, clients that attack."""
