#!/usr/bin/env bash
# mpesa-wrapper 1.0.0 and singularity-payments 1.0.1 (PyPI) send one payout three and four times.
#
# Expected: a payout (B2C) that Daraja answers with HTTP 500 may have been accepted, so that it is not
# sent again without an id by which M-Pesa would know it.
# Seen with Python 3.11, the default options, one call of the caller, and a server that answers each
# request with 500.003.1001 "Internal Server Error":
#   mpesa-wrapper         3 requests to /mpesa/b2c/v1/paymentrequest, OriginatorConversationID in 0
#   singularity-payments  4 requests to /mpesa/b2c/v1/paymentrequest, OriginatorConversationID in 0
# Version 1 of B2C has no id of the caller. mpesa-wrapper sends a header X-Idempotency-Key, which is
# in no document of Daraja's. Each request that M-Pesa did accept pays.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check mpesa-wrapper==1.0.0 singularity-payments==1.0.1
cat >pay.py <<'PY'
import asyncio
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

logging.disable()
asked = []


class Daraja(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {"access_token": "t", "expires_in": "3599"})

    def do_POST(self):
        asked.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
        self.answer(500, {"requestId": "1", "errorCode": "500.003.1001", "errorMessage": "Internal Server Error"})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Daraja)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
secrets = {"consumer_key": "k", "consumer_secret": "s", "passkey": "p"}
initiator = {"initiator_name": "testapi", "security_credential": "c"}
addresses = {name: "https://example.com/c" for name in ("callback_url", "result_url", "timeout_url")}


def wrapper():
    from mpesa_wrapper.client import MpesaClient

    token = {"auth_url": base + "/oauth/v1/generate", "base_url": base, "shortcode": "174379"}
    client = MpesaClient({**secrets, **initiator, **addresses, **token, "environment": "sandbox"})
    client.b2c_payment(phone_number="254712345678", amount=100)


def singularity():
    from singularity_payments.client.mpesa_client import MpesaClient
    from singularity_payments.types.config import MpesaConfig
    from singularity_payments.types.mpesa import B2CRequest
    from singularity_payments.utils import auth

    auth.ENDPOINTS["sandbox"] = base
    config = MpesaConfig(**secrets, **initiator, **addresses, short_code="174379", environment="sandbox")
    request = B2CRequest(amount=100, phone_number="254712345678", command_id="BusinessPayment", remarks="pay")
    asyncio.run(MpesaClient(config).b2c(request))


for name, pay in (("mpesa-wrapper", wrapper), ("singularity-payments", singularity)):
    asked.clear()
    try:
        pay()
    except Exception:
        pass
    paths = sorted({path for path, _ in asked})
    print(name, len(asked), *paths, sum("OriginatorConversationID" in body for _, body in asked))
PY
seen=$(python/bin/python pay.py)
echo "$seen"
[ "$seen" = "mpesa-wrapper 3 /mpesa/b2c/v1/paymentrequest 0
singularity-payments 4 /mpesa/b2c/v1/paymentrequest 0" ]
