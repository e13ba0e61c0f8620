"""Ports of this machine: one that is free, and whether anybody listens at one."""

import socket


def free_port() -> int:
    """Return a port of loopback that nobody has."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def is_listening(port: int) -> bool:
    """Return whether somebody takes connections at a port of loopback."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
