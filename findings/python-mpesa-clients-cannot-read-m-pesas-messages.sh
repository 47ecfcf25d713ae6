#!/usr/bin/env bash
# Three clients of PyPI raise for messages of M-Pesa in the form that Safaricom documents.
#
# Expected: mpesakit 2.2.0, daraja-sdk-py 2.0.0 and singularity-payments 1.0.1 read these messages, for
# which each has a class:
#   push    a push that was paid, where {"Name": "Balance"} has no Value
#   payout  a payout that failed with the text SFC_IC0003 for a code
#   status  the result of a status query, where {"Key": "TransactionReason"} has no Value
#   refused the result of a query that failed, with one parameter as an object
# Seen with Python 3.11 and pydantic 2.14.4, "raises" is a ValidationError:
#                         push    payout  status  refused
#   mpesakit              reads   reads   raises  raises
#   daraja-sdk-py         reads   raises  raises  raises
#   singularity-payments  raises  raises  raises  raises
# A server that answers a callback after such a reading answers 500 to a push that was paid, and no
# document says that M-Pesa sends it again.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check \
  mpesakit==2.2.0 daraja-sdk-py==2.0.0 singularity-payments==1.0.1 pydantic==2.14.4
cat >read.py <<'PY'
from daraja.models import MpesaResult, STKCallbackPayload
from mpesakit import MpesaClient
from pydantic import ValidationError
from singularity_payments.types import mpesa as singularity

items = [
    {"Name": "Amount", "Value": 1700.00},
    {"Name": "MpesaReceiptNumber", "Value": "NLJ7RT61SV"},
    {"Name": "Balance"},
    {"Name": "TransactionDate", "Value": 20191219102115},
    {"Name": "PhoneNumber", "Value": 254708374149},
]
about = {"MerchantRequestID": "29115-1", "CheckoutRequestID": "ws_CO_1", "ResultCode": 0, "ResultDesc": "ok"}
push = {"Body": {"stkCallback": {**about, "CallbackMetadata": {"Item": items}}}}


def result(code, parameters=None):
    names = ("ResultDesc", "OriginatorConversationID", "ConversationID", "TransactionID")
    inside = {"ResultType": 0, "ResultCode": code, **{name: "x" for name in names}}
    if parameters is not None:
        inside["ResultParameters"] = {"ResultParameter": parameters}
    reference = {"ReferenceItem": {"Key": "QueueTimeoutURL", "Value": "https://example.com"}}
    return {"Result": {**inside, "ReferenceData": reference}}


payout = result("SFC_IC0003")
status = result(0, [{"Key": "TransactionReason"}, {"Key": "Amount", "Value": "300"}])
refused = result(2001, {"Key": "BOCompletedTime", "Value": 20191219102115})
kit = MpesaClient("k", "s")
for name, *readers in (
    (
        "mpesakit",
        kit.process_stk_callback,
        kit.process_b2c_callback,
        kit.process_transactions_callback,
        kit.process_transactions_callback,
    ),
    ("daraja-sdk-py", STKCallbackPayload.model_validate, *[MpesaResult.model_validate] * 3),
    (
        "singularity-payments",
        singularity.STKCallback.model_validate,
        singularity.B2CCallback.model_validate,
        singularity.TransactionStatusCallback.model_validate,
        singularity.TransactionStatusCallback.model_validate,
    ),
):
    words = []
    for read, message in zip(readers, (push, payout, status, refused)):
        try:
            read(message)
            words.append("reads")
        except ValidationError:
            words.append("raises")
    print(name, *words)
PY
seen=$(python/bin/python read.py)
echo "$seen"
[ "$seen" = "mpesakit reads reads raises raises
daraja-sdk-py reads raises raises raises
singularity-payments raises raises raises raises" ]
