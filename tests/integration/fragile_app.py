"""fragile_app SOCKET LOG: a consumer process over HTTP that dies of a message whose body is `die`, with all that it has begun;
of `linger` it dies slowly: its connection breaks, and for a moment it takes further messages.

It writes `begun BODY ATTEMPT` and `done BODY ATTEMPT` for each message.
"""

import http.server
import os
import socketserver
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.note("begun", body, self.headers["Retryd-Attempt"])
        if body == "die":
            time.sleep(0.1)
            os._exit(1)
        if body == "linger":
            threading.Timer(0.2, os._exit, (1,)).start()
            self.close_connection = True
            return
        time.sleep(0.3)
        self.server.note("done", body, self.headers["Retryd-Attempt"])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path, log):
        if os.path.exists(path):
            os.unlink(path)
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        super().__init__(path, Handler)

    def note(self, *words):
        os.write(self.log, (" ".join(words) + "\n").encode())


if __name__ == "__main__":
    Server(*sys.argv[1:]).serve_forever()
