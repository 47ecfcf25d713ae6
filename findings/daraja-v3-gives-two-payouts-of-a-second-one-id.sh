#!/usr/bin/env bash
# daraja-v3 0.2.1 (PyPI) gives payouts of one second the same id, and cuts cents off in silence.
#
# Expected: each call of b2c() has an OriginatorConversationID of its own, by which M-Pesa tells two
# payouts from one that is sent twice; and 99.99 shillings are refused, or go out as they are.
# Seen with Python 3.11, twenty payouts to twenty phones in a row, over HTTP to a server of this machine:
#   ids of 20 payouts  1 or 2: "b2c-" and the time in seconds
#   amount 99.99       99
# M-Pesa refuses the second request with 500.002.1001 "Duplicate OriginatorConversationID", which also
# means that the same request was accepted before: a caller who reads it so does not pay the second.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check daraja-v3==0.2.1
cat >pay.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mpesa import MpesaClient

sent = []


class Daraja(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"access_token": "t", "expires_in": "3599"})

    def do_POST(self):
        sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.answer({"ResponseCode": "0", "ResponseDescription": "Accepted"})

    def answer(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Daraja)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = MpesaClient("k", "s", "174379", "p", base_url=f"http://127.0.0.1:{server.server_port}")
for number in range(20):
    client.b2c(f"07123456{number:02}", 99.99, callback_url="https://example.com/c")
ids = {payload["OriginatorConversationID"] for payload in sent}
print(len(sent), "payouts", "1 or 2 ids" if len(ids) <= 2 else f"{len(ids)} ids")
print("amounts", *{payload["Amount"] for payload in sent})
PY
seen=$(python/bin/python pay.py)
echo "$seen"
[ "$seen" = "20 payouts 1 or 2 ids
amounts 99" ]
