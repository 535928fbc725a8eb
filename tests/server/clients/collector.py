#!/usr/bin/env python3
"""collector.py PORT_FILE OUT [STATUS...] - a collector of OpenTelemetry that writes the requests it takes to OUT, a line
of JSON each: path, headers, body. It answers the first with the first STATUS, and so on; then with 200."""
import http.server
import json
import sys

port_file, out, *statuses = sys.argv[1:]


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = int(statuses.pop(0)) if statuses else 200
        with open(out, "a", encoding="utf-8") as f:
            f.write(json.dumps({"path": self.path, "status": status, "headers": dict(self.headers), "body": body}) + "\n")
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
with open(port_file, "w", encoding="utf-8") as f:
    f.write(str(server.server_port))
server.serve_forever()
