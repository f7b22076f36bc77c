"""A consumer: an HTTP server on a Unix socket. 2xx is done, 422 never, 500 later."""

import json
import os
import signal
import socketserver
import sys
from http.server import BaseHTTPRequestHandler


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            handle(json.loads(body))
            status = 204
        except (ValueError, KeyError):
            status = 422
        except Exception as error:
            print(f"attempt {self.headers['Retryd-Attempt']}: {error}", flush=True)
            status = 500
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def handle(order):
    print(f"order {order['id']}", flush=True)


class Server(socketserver.ThreadingUnixStreamServer):
    request_queue_size = 128
    daemon_threads = False  # what has begun is finished at the end


def main(path):
    if os.path.exists(path):
        os.unlink(path)  # left by the one before
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Server(path, Handler) as server:
        server.serve_forever()


main(sys.argv[1])
