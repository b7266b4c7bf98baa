"""ClickHouse's HTTP interface over the engine in this process. Prints its port."""

import json
import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

engine = Session()
# Of the interface, or of the server's process: the engine in this process has no use for them. A setting holds for all
# that follows here, and tables are still to be made.
NOT_SETTINGS = {"default_format", "wait_end_of_query", "cancel_http_readonly_queries_on_client_close", "allow_ddl"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = dict(parse_qsl(urlsplit(self.path).query))
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = asked["default_format"]
        try:
            for name, value in asked.items():
                if name not in NOT_SETTINGS:
                    engine.query(f"SET {name} = {json.dumps(value).replace(chr(34), chr(39))}")
            body, status, code = engine.query(sql, form).bytes(), 200, None
        except Exception as problem:
            body, status = str(problem).encode(), 500
            code = re.search(r"Code: (\d+)", str(problem))
        self.send_response(status)
        if status == 200:
            self.send_header("X-ClickHouse-Format", form)
        elif code:
            self.send_header("X-ClickHouse-Exception-Code", code[1])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
