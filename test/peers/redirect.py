"""Imported before a client: what it sends to Safaricom's hosts goes to the simulator, at DARAJA.

Nothing else leaves: a connection to an address other than the loopback is refused.
"""

import os
import re
import socket
import urllib.request

DARAJA = os.environ["DARAJA"]
SAFARICOM = re.compile(r"^https://(sandbox|api)\.safaricom\.co\.ke(?=/|$)")
_connect = socket.socket.connect


def redirected(url):
    return SAFARICOM.sub(DARAJA, str(url))


def _connect_to_loopback(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1"):
        raise OSError(f"{address[0]} is not for peers")
    return _connect(self, address)


def _redirect_urllib():
    opened = urllib.request.OpenerDirector.open

    def open_at_daraja(self, request, *rest):
        if isinstance(request, str):
            return opened(self, redirected(request), *rest)
        request.full_url = redirected(request.full_url)
        return opened(self, request, *rest)

    urllib.request.OpenerDirector.open = open_at_daraja


def _redirect_requests():
    import requests.adapters

    send = requests.adapters.HTTPAdapter.send

    def send_to_daraja(self, request, *rest, **options):
        request.url = redirected(request.url)
        return send(self, request, *rest, **options)

    requests.adapters.HTTPAdapter.send = send_to_daraja
    # The adapter is chosen by the address: that for HTTPS takes one without TLS, too.


def _redirect_httpx():
    import httpx

    handle = httpx.HTTPTransport.handle_request
    handle_async = httpx.AsyncHTTPTransport.handle_async_request

    def handle_at_daraja(self, request):
        request.url = httpx.URL(redirected(request.url))
        return handle(self, request)

    async def handle_at_daraja_async(self, request):
        request.url = httpx.URL(redirected(request.url))
        return await handle_async(self, request)

    httpx.HTTPTransport.handle_request = handle_at_daraja
    httpx.AsyncHTTPTransport.handle_async_request = handle_at_daraja_async


socket.socket.connect = _connect_to_loopback
_redirect_urllib()
_redirect_requests()
_redirect_httpx()
