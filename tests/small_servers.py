"""Small servers in place of copies of the app, which report their name and the request."""

import json
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["small_server"]


class Copy(BaseHTTPRequestHandler):
    """Reports which copy it is, and what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        said = json.dumps({"copy": self.server.server_port, "headers": dict(self.headers), "body": body}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Ends like a killed process, with all its connections."""

    def __init__(self, port):
        self._connections = []
        super().__init__(("127.0.0.1", port), Copy)

    def process_request(self, request, client_address):
        self._connections.append(request)
        super().process_request(request, client_address)

    def server_close(self):
        for each in self._connections:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        super().server_close()


@contextmanager
def small_server(port):
    server = Server(port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
