"""Runs one client of PyPI, by its name, against the simulator at DARAJA: each of its calls once.

Prints a line of JSON for each call: its column in the table of docs/daraja.md, and what came.
"""

import asyncio
import base64
import json
import logging
import os
import sys
import time
import urllib.request
from datetime import datetime, timedelta

import redirect  # noqa: F401  Must come before the clients.

KEY, SECRET = "simulated-consumer-key", "simulated-consumer-secret"
PASSKEY = "simulated-passkey"
SHORTCODE = "174379"
INITIATOR = "testapi"
CREDENTIAL = os.environ["CREDENTIAL"]
RECEIPT = os.environ["RECEIPT"]
# Each client has a phone of its own, so that no two prompts meet.
PHONE = os.environ["PHONE"]
URL = os.environ["CALLBACKS"] + "/callback"
TILL = "555000"
PAYS = {"QueueTimeOutURL": URL, "ResultURL": URL}
SIGNED = {"Initiator": INITIATOR, "SecurityCredential": CREDENTIAL, "PartyA": SHORTCODE, **PAYS}


def stamp():
    return datetime.now().strftime("%Y%m%d%H%M%S")


def password(at):
    return base64.b64encode(f"{SHORTCODE}{PASSKEY}{at}".encode()).decode()


def signature():
    at = stamp()
    return {"BusinessShortCode": SHORTCODE, "Password": password(at), "Timestamp": at}


def mpesakit():
    from mpesakit import MpesaClient
    from mpesakit.b2c.schemas import B2CCommandIDType

    client = MpesaClient(KEY, SECRET)
    parties = {"initiator": INITIATOR, "security_credential": CREDENTIAL}
    urls = {"queue_timeout_url": URL, "result_url": URL}
    business = {**parties, **urls, "party_a": int(SHORTCODE), "remarks": "pay", "amount": 10}
    return {
        "push": lambda _: client.stk_push(
            business_short_code=int(SHORTCODE),
            passkey=PASSKEY,
            transaction_type="CustomerPayBillOnline",
            amount=10,
            party_a=PHONE,
            party_b=SHORTCODE,
            phone_number=PHONE,
            callback_url=URL,
            account_reference="ref",
            transaction_desc="text",
        ),
        "push query": lambda said: client.stk_query(
            business_short_code=int(SHORTCODE), passkey=PASSKEY, checkout_request_id=said["push"].CheckoutRequestID
        ),
        "B2C": lambda _: client.b2c.send_payment(
            "mpesakit-1",
            INITIATOR,
            CREDENTIAL,
            B2CCommandIDType.BusinessPayment,
            10,
            SHORTCODE,
            PHONE,
            "pay",
            URL,
            URL,
        ),
        "B2B": lambda _: client.b2b.buygoods(**business, party_b=int(TILL), account_reference="ref", requester=PHONE),
        "top-up": lambda _: client.b2c.account_topup(
            **{**business, "party_a": SHORTCODE}, party_b=SHORTCODE, account_reference="ref", requester=PHONE
        ),
        "tax": lambda _: client.tax.remittance(**business, account_reference="ref"),
        "status": lambda _: client.transactions.query_status(
            **parties, **urls, transaction_id=RECEIPT, party_a=int(SHORTCODE), identifier_type=4
        ),
        "balance": lambda _: client.balance.query(
            **parties,
            **urls,
            command_id="AccountBalance",
            party_a=int(SHORTCODE),
            identifier_type=4,
            remarks="ask",
        ),
        "reversal": lambda _: client.reversal.reverse(
            **parties, **urls, transaction_id=RECEIPT, amount=10, receiver_party=int(SHORTCODE), remarks="back"
        ),
        "register": lambda _: client.c2b.register_url(int(SHORTCODE), "Completed", URL, URL),
        "QR": lambda _: client.dynamic_qr.generate("Duka", "ref", 10, "PB", SHORTCODE, "300"),
    }


def daraja_sdk_py():
    from daraja import Mpesa

    client = Mpesa({"consumer_key": KEY, "consumer_secret": SECRET, "passkey": PASSKEY, "max_retries": 0})
    business = {**SIGNED, "PartyB": TILL, "Amount": 10, "AccountReference": "ref", "Remarks": "pay"}
    phone = {
        "InitiatorName": INITIATOR,
        "SecurityCredential": CREDENTIAL,
        "PartyA": SHORTCODE,
        "PartyB": PHONE,
        "Amount": 10,
        "Remarks": "pay",
        **PAYS,
    }
    return {
        "push": lambda _: client.stk_push_service.initiate(
            {
                "BusinessShortCode": SHORTCODE,
                "TransactionType": "CustomerPayBillOnline",
                "Amount": 10,
                "PartyA": PHONE,
                "PartyB": SHORTCODE,
                "PhoneNumber": PHONE,
                "CallBackURL": URL,
                "AccountReference": "ref",
                "TransactionDesc": "text",
            }
        ),
        "push query": lambda said: client.stk_push_service.query(
            {"BusinessShortCode": SHORTCODE, "CheckoutRequestID": said["push"].CheckoutRequestID}
        ),
        "B2C": lambda _: client.b2c_service.send({**phone, "CommandID": "BusinessPayment"}),
        "Pochi": lambda _: client.b2pochi_service.send({**phone, "OriginatorConversationID": "daraja-sdk-py-1"}),
        "B2B": lambda _: client.business_goods_service.buy_goods(business),
        "top-up": lambda _: client.b2b_service.top_up({**business, "PartyB": SHORTCODE, "Amount": "10"}),
        "tax": lambda _: client.tax_remittance_service.remit(
            {**business, "CommandID": "PayTaxToKRA", "PartyB": "572572", "Amount": "10"}
        ),
        "status": lambda _: client.transaction_status_service.query(
            {**SIGNED, "CommandID": "TransactionStatusQuery", "TransactionID": RECEIPT, "Remarks": "ask"}
        ),
        "balance": lambda _: client.account_balance_service.query(
            {**SIGNED, "CommandID": "AccountBalance", "Remarks": "ask"}
        ),
        "reversal": lambda _: client.reversal_service.reverse(
            {
                **SIGNED,
                "CommandID": "TransactionReversal",
                "TransactionID": RECEIPT,
                "Amount": 10,
                "ReceiverParty": SHORTCODE,
                "Remarks": "back",
            }
        ),
        "register": lambda _: client.c2b_service.register_url(
            {"ShortCode": SHORTCODE, "ResponseType": "Completed", "ConfirmationURL": URL, "ValidationURL": URL}
        ),
        "simulate": lambda _: client.c2b_service.simulate(
            {
                "ShortCode": SHORTCODE,
                "CommandID": "CustomerPayBillOnline",
                "Amount": 10,
                "Msisdn": PHONE,
                "BillRefNumber": "ref",
            }
        ),
        "QR": lambda _: client.dynamic_qr_service.generate(
            {"MerchantName": "Duka", "RefNo": "ref", "Amount": 10, "TrxCode": "PB", "CPI": SHORTCODE}
        ),
        "Pull register": lambda _: client.pull_transactions_service.register(
            {"ShortCode": SHORTCODE, "NominatedNumber": PHONE, "CallBackURL": URL}
        ),
        "Pull": lambda _: client.pull_transactions_service.query(
            {"ShortCode": SHORTCODE, "StartDate": daytime(-1), "EndDate": daytime(1)}
        ),
    }


def daytime(days):
    return (datetime.now() + timedelta(days=days)).strftime("%Y-%m-%d %H:%M:%S")


def daraja_v3():
    from mpesa import MpesaClient

    client = MpesaClient(KEY, SECRET, SHORTCODE, PASSKEY)
    asked = {"initiator_name": INITIATOR, "security_credential": CREDENTIAL, "queue_timeout_url": URL}
    return {
        "push": lambda _: client.stk_push(PHONE, 10, "ref", callback_url=URL),
        "push query": lambda said: client.stk_query(said["push"].checkout_request_id),
        "B2C": lambda _: client.b2c(PHONE, 10, callback_url=URL, **asked),
        "balance": lambda _: client.account_balance(URL, **asked),
        "register": lambda _: client.c2b_register_urls(URL, URL),
    }


def singularity_payments():
    from singularity_payments.client.mpesa_client import MpesaClient, MpesaClientOptions
    from singularity_payments.types import mpesa as types
    from singularity_payments.types.config import MpesaConfig
    from singularity_payments.utils.retry import RetryOptions

    config = MpesaConfig(
        consumer_key=KEY,
        consumer_secret=SECRET,
        passkey=PASSKEY,
        short_code=SHORTCODE,
        environment="sandbox",
        callback_url=URL,
        timeout_url=URL,
        result_url=URL,
        initiator_name=INITIATOR,
        security_credential=CREDENTIAL,
    )
    client = MpesaClient(config, MpesaClientOptions(retry_options=RetryOptions(max_retries=0)))

    def call(method, request):
        return lambda _: asyncio.run(method(request))

    return {
        "push": call(
            client.stk_push,
            types.STKPushRequest(amount=10, phone_number=PHONE, account_reference="ref", transaction_desc="text"),
        ),
        "push query": lambda said: asyncio.run(
            client.stk_query(types.TransactionStatusRequest(checkout_request_id=said["push"].checkout_request_id))
        ),
        "B2C": call(
            client.b2c,
            types.B2CRequest(amount=10, phone_number=PHONE, command_id="BusinessPayment", remarks="pay"),
        ),
        "B2B": call(
            client.b2b,
            types.B2BRequest(
                amount=10,
                party_b=TILL,
                command_id="BusinessBuyGoods",
                sender_identifier_type="4",
                receiver_identifier_type="4",
                remarks="pay",
                account_reference="ref",
                result_url=URL,
                timeout_url=URL,
            ),
        ),
        "status": call(client.transaction_status, types.GeneralTransactionStatusRequest(transaction_id=RECEIPT)),
        "balance": call(client.account_balance, None),
        "reversal": call(client.reversal, types.ReversalRequest(transaction_id=RECEIPT, amount=10)),
        "register": call(
            client.register_c2b_url,
            types.C2BRegisterRequest(
                short_code=SHORTCODE, response_type="Completed", confirmation_url=URL, validation_url=URL
            ),
        ),
        "simulate": call(
            client.simulate_c2b,
            types.C2BSimulateRequest(amount=10, phone_number=PHONE, bill_ref_number="ref"),
        ),
        "QR": call(
            client.generate_dynamic_qr,
            types.DynamicQRRequest(
                merchant_name="Duka",
                ref_no="ref",
                amount=10,
                transaction_type="PB",
                credit_party_identifier=SHORTCODE,
            ),
        ),
    }


def mpesa_wrapper():
    from mpesa_wrapper.client import MpesaClient

    base = "https://sandbox.safaricom.co.ke"
    client = MpesaClient(
        {
            "consumer_key": KEY,
            "consumer_secret": SECRET,
            "passkey": PASSKEY,
            "shortcode": SHORTCODE,
            "environment": "sandbox",
            "base_url": base,
            "auth_url": base + "/oauth/v1/generate?grant_type=client_credentials",
            "initiator_name": INITIATOR,
            "security_credential": CREDENTIAL,
            "callback_url": URL,
            "result_url": URL,
            "timeout_url": URL,
        }
    )
    # It takes HTTPS alone here. Nothing calls this address: the simulator asks for no validation.
    https = "https://example.com/callback"
    return {
        "push": lambda _: client.stk_push(
            phone_number=PHONE, amount=10, account_reference="ref", transaction_desc="text"
        ),
        "B2C": lambda _: client.b2c_payment(phone_number=PHONE, amount=10),
        "status": lambda _: client.transaction_status(transaction_id=RECEIPT),
        "balance": lambda _: client.account_balance(),
        "reversal": lambda _: client.reverse_transaction(transaction_id=RECEIPT, amount=10),
        "register": lambda _: client.register_url(confirmation_url=https, validation_url=https),
        "simulate": lambda _: client.simulate_transaction(phone_number=PHONE, amount=10),
    }


def mpesa_sdk():
    from mpesa_sdk import Mpesa, oauth_generate_token

    client = Mpesa(oauth_generate_token(KEY, SECRET)[0]["access_token"])
    return payloads(
        client,
        "mpesa-sdk-1",
        push=client.mpesa_express_payment,
        query=client.mpesa_express_query,
        body_of=lambda answer: answer[0],
        call=lambda method, fields: method(fields),
    )


def pympesa():
    from pympesa import Pympesa, oauth_generate_token

    token = oauth_generate_token(KEY, SECRET, env="sandbox").json()["access_token"]
    client = Pympesa(token, env="sandbox")
    return payloads(
        client,
        None,
        push=client.lipa_na_mpesa_online_payment,
        query=client.lipa_na_mpesa_online_query,
        body_of=body_of,
        call=lambda method, fields: method(**fields),
    )


def body_of(response):
    """What a client that returns the HTTP response tells a caller who looks at its status."""
    if not response.ok:
        raise RuntimeError(response.text)
    return response.json()


def payloads(client, conversation, *, push, query, body_of, call):
    """The calls of two clients whose callers write the fields of the requests themselves."""
    business = {**SIGNED, "Amount": "10", "Remarks": "pay", "PartyB": TILL, "AccountReference": "ref"}
    answers = {
        "push": lambda _: call(
            push,
            {
                **signature(),
                "Amount": "10",
                "PartyA": PHONE,
                "PartyB": SHORTCODE,
                "PhoneNumber": PHONE,
                "CallBackURL": URL,
                "AccountReference": "ref",
                "TransactionDesc": "text",
            },
        ),
        "push query": lambda said: call(
            query, {**signature(), "CheckoutRequestID": said["push"]["CheckoutRequestID"]}
        ),
        "B2C": lambda _: call(
            client.b2c_payment_request,
            {
                **({} if conversation is None else {"OriginatorConversationID": conversation}),
                "InitiatorName": INITIATOR,
                "SecurityCredential": CREDENTIAL,
                "CommandID": "BusinessPayment",
                "Amount": "10",
                "PartyA": SHORTCODE,
                "PartyB": PHONE,
                "Remarks": "pay",
                "Occassion": "x",
                **PAYS,
            },
        ),
        "B2B": lambda _: call(
            client.b2b_payment_request,
            {
                **business,
                "CommandID": "BusinessBuyGoods",
                "SenderIdentifierType": "4",
                "RecieverIdentifierType": "4",
            },
        ),
        "status": lambda _: call(
            client.transation_status_request,
            {**SIGNED, "TransactionID": RECEIPT, "Remarks": "ask", "Occasion": "x"},
        ),
        "balance": lambda _: call(client.account_balance_request, {**SIGNED, "Remarks": "ask"}),
        "reversal": lambda _: call(
            client.reversal_request,
            {
                **SIGNED,
                "TransactionID": RECEIPT,
                "Amount": "10",
                "ReceiverParty": SHORTCODE,
                "Remarks": "back",
                "Occasion": "x",
            },
        ),
        "register": lambda _: call(
            client.c2b_register_url,
            {"ShortCode": SHORTCODE, "ResponseType": "Completed", "ConfirmationURL": URL, "ValidationURL": URL},
        ),
        "simulate": lambda _: call(
            client.c2b_simulate_transaction,
            {"ShortCode": SHORTCODE, "Amount": "10", "Msisdn": PHONE, "BillRefNumber": "ref"},
        ),
    }
    return {column: (lambda said, ask=ask: body_of(ask(said))) for column, ask in answers.items()}


def daraja_mpesa():
    from mpesa.api.b2b import B2B
    from mpesa.api.b2c import B2C
    from mpesa.api.balance import Balance
    from mpesa.api.c2b import C2B
    from mpesa.api.mpesa_express import MpesaExpress
    from mpesa.api.reversal import Reversal
    from mpesa.api.transaction_status import TransactionStatus

    # Each asks for a token when it is made, and a new token ends the one before.
    def of(kind):
        return kind(app_key=KEY, app_secret=SECRET)

    urls = {"queue_timeout_url": URL, "result_url": URL}
    signed = {"initiator": INITIATOR, "security_credential": CREDENTIAL, **urls}
    return {
        "push": lambda _: of(MpesaExpress).stk_push(SHORTCODE, PASSKEY, 10, URL, "ref", PHONE, "text"),
        "push query": lambda said: of(MpesaExpress).query(SHORTCODE, said["push"]["CheckoutRequestID"], PASSKEY),
        "B2C": lambda _: of(B2C).transact(
            INITIATOR, CREDENTIAL, "BusinessPayment", 10, SHORTCODE, PHONE, "pay", URL, URL, "x"
        ),
        "B2B": lambda _: of(B2B).transact(
            **signed,
            command_id="BusinessBuyGoods",
            sender_identifier_type=4,
            receiver_identifier_type=4,
            amount=10,
            party_a=SHORTCODE,
            party_b=TILL,
            remarks="pay",
            account_reference="ref",
        ),
        "status": lambda _: of(TransactionStatus).check_transaction_status(
            SHORTCODE, 4, "ask", INITIATOR, PASSKEY, URL, URL, RECEIPT, "x", SHORTCODE
        ),
        "balance": lambda _: of(Balance).get_balance(
            **signed, command_id="AccountBalance", party_a=SHORTCODE, identifier_type=4, remarks="ask"
        ),
        "reversal": lambda _: of(Reversal).reverse(
            **signed,
            transaction_id=RECEIPT,
            amount=10,
            receiver_party=SHORTCODE,
            receiver_identifier_type=11,
            remarks="back",
            occassion="x",
        ),
        "register": lambda _: of(C2B).register(SHORTCODE, "Completed", URL, URL),
        "simulate": lambda _: of(C2B).simulate(SHORTCODE, "CustomerPayBillOnline", 10, PHONE, "ref"),
    }


def python_daraja():
    from python_daraja import payment

    payment.CONSUMER_KEY, payment.CONSUMER_SECRET = KEY, SECRET
    payment.PASSKEY, payment.SHORT_CODE, payment.ACCOUNT_TYPE = PASSKEY, SHORTCODE, "PAYBILL"
    return {
        "push": lambda _: payment.trigger_stk_push(int(PHONE), 10, URL, "ref", "text"),
        "push query": lambda _: payment.query_stk_push("ws_CO_1"),
        "register": lambda _: payment.register_urls(URL, URL, "Completed"),
        "simulate": lambda _: payment.c2b_transaction(10, PHONE),
    }


def pydaraja():
    from pydaraja import MpesaPaymentGateway

    client = MpesaPaymentGateway(KEY, SECRET, SHORTCODE, PASSKEY, "https://sandbox.safaricom.co.ke")
    return {
        "push": lambda _: body_of(client.trigger_stk_push(PHONE, 10, URL)),
        "push query": lambda said: body_of(client.query_stk_push(said["push"]["CheckoutRequestID"])),
    }


CLIENTS = {
    "mpesakit": mpesakit,
    "daraja-sdk-py": daraja_sdk_py,
    "daraja-v3": daraja_v3,
    "singularity-payments": singularity_payments,
    "mpesa-wrapper": mpesa_wrapper,
    "mpesa-sdk": mpesa_sdk,
    "pympesa": pympesa,
    "daraja-mpesa": daraja_mpesa,
    "python-daraja": python_daraja,
    "pydaraja": pydaraja,
}


def advance(seconds):
    """The payer answers the prompt after five seconds; a query before that has another answer."""
    body = json.dumps({"advance_seconds": seconds}).encode()
    urllib.request.urlopen(os.environ["DARAJA"] + "/simulator/clock", body).read()


def main():
    logging.disable()
    said = {}
    for column, call in CLIENTS[sys.argv[1]]().items():
        if column == "push query":
            advance(6)
        try:
            said[column] = call(said)
            print(json.dumps({"column": column, "said": str(said[column])}), flush=True)
        except Exception as error:  # A client may raise anything.
            print(json.dumps({"column": column, "failed": f"{type(error).__name__}: {error}"}), flush=True)
        # The refusals of this call are read before those of the next one come.
        time.sleep(0.2)


main()
