"""Serves daraja-mock, an M-Pesa that somebody else wrote, at a port of the loopback.

Besides its own paths it has POST /peers/query, which sets the ResultCode of each query of a push, and
GET /peers/requests, with what was asked. Prints its address.

Each answer of daraja-mock to a query names an order that does not exist. With "is_own" the answer
names the order that was asked about, and is else as it was.
"""

import socket

from daraja_mock import DarajaMock
from flask import jsonify, request
from werkzeug.serving import make_server

mock = DarajaMock()
query = {"is_own": False}


@mock.app.route("/peers/query", methods=["POST"])
def set_query():
    query.update(request.get_json())
    mock.set_stk_result(query["code"])
    return jsonify({})


@mock.app.after_request
def name_the_order(response):
    if request.path.startswith("/mpesa/stkpushquery/") and query["is_own"]:
        answer = {**response.get_json(), "CheckoutRequestID": request.get_json()["CheckoutRequestID"]}
        response.set_data(jsonify(answer).get_data())
    return response


@mock.app.route("/peers/requests")
def requests_so_far():
    return jsonify(mock.request_log())


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = make_server("127.0.0.1", port, mock.app, threaded=True)
    print(f"http://127.0.0.1:{port}", flush=True)
    server.serve_forever()


main()
