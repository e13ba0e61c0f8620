"""Ports of this machine."""

import socket


def free_port() -> int:
    """Return a free loopback port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def is_listening(port: int) -> bool:
    """Return whether a server is listening at a loopback port."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
