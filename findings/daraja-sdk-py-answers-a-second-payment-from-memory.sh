#!/usr/bin/env bash
# daraja-sdk-py 2.0.0 (PyPI) does not send a second payment that is like the first one of that day.
#
# Expected: two calls that push, or pay out, the same amount to the same phone are two payments, and
# each reaches Daraja; or the second raises.
# Seen with Python 3.11, the default configuration (enable_idempotency is True), a server that gives
# each request ids of its own:
#   push    2 calls, 1 request, both with ResponseCode 0 and the same CheckoutRequestID
#   payout  2 calls, 1 request, both with ResponseCode 0 and the same ConversationID
# The client remembers an answer for 24 hours by the fields of the request, without Timestamp and
# Password. A customer who buys the same again sees no prompt, and the shop takes the first payment
# for the second; a second wage of the same amount is not paid, and looks accepted.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check daraja-sdk-py==2.0.0
cat >pay.py <<'PY'
import itertools
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

logging.disable()
asked = []
numbers = itertools.count(1)


class Daraja(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"access_token": "t", "expires_in": "3599"})

    def do_POST(self):
        asked.append(self.path)
        self.rfile.read(int(self.headers["content-length"]))
        number = str(next(numbers))
        names = ["MerchantRequestID", "CheckoutRequestID", "ConversationID", "OriginatorConversationID"]
        said = {"ResponseCode": "0", "ResponseDescription": "Accepted", "CustomerMessage": "Accepted"}
        self.answer({**{name: number for name in names}, **said})

    def answer(self, body):
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Daraja)
threading.Thread(target=server.serve_forever, daemon=True).start()

from daraja import Mpesa, environment

# The client has a fixed address: what it sends goes to the server above.
environment.SANDBOX_BASE_URL = f"http://127.0.0.1:{server.server_port}"
client = Mpesa({"consumer_key": "k", "consumer_secret": "s", "passkey": "p"})
url = "https://example.com/c"
push = {
    "BusinessShortCode": 174379,
    "TransactionType": "CustomerPayBillOnline",
    "Amount": 100,
    "PartyA": 254712345678,
    "PartyB": 174379,
    "PhoneNumber": 254712345678,
    "CallBackURL": url,
    "AccountReference": "shop 7",
    "TransactionDesc": "shoes",
}
payout = {
    "InitiatorName": "testapi",
    "SecurityCredential": "c",
    "CommandID": "SalaryPayment",
    "Amount": 100,
    "PartyA": 174379,
    "PartyB": 254712345678,
    "Remarks": "wage",
    "QueueTimeOutURL": url,
    "ResultURL": url,
}
for name, send, request, field in (
    ("push", client.stk_push_service.initiate, push, "CheckoutRequestID"),
    ("payout", client.b2c_service.send, payout, "ConversationID"),
):
    asked.clear()
    answers = [send(dict(request)) for _ in range(2)]
    codes = [answer.ResponseCode for answer in answers]
    print(name, len(asked), *codes, len({getattr(answer, field) for answer in answers}))
PY
seen=$(python/bin/python pay.py)
echo "$seen"
[ "$seen" = "push 1 0 0 1
payout 1 0 0 1" ]
