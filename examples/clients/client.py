"""python3 client.py: with the packages grpcio and protobuf, and without generated code."""

import os
import pathlib
import uuid

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

CONTRACT = pathlib.Path(__file__).parent / "../../dist/proto/kesc.binpb"
# The service repeats nothing by itself. After UNAVAILABLE a repeat is safe, because of the reference.
RETRIES = """{"methodConfig": [{"name": [{"service": "kesc.v1.AccountService"}, {"service": "kesc.v1.TransactionService"}],
  "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "5s", "backoffMultiplier": 2,
                  "retryableStatusCodes": ["UNAVAILABLE"]}}]}"""

contract = descriptor_pb2.FileDescriptorSet.FromString(CONTRACT.read_bytes())
pool = descriptor_pool.DescriptorPool()
for file in contract.file:
    pool.Add(file)


def message(name):
    """The class of a message of the contract, such as kesc.v1.MintRequest."""
    descriptor = pool.FindMessageTypeByName(name)
    # Before version 4.22 of protobuf a factory made the classes.
    get = getattr(message_factory, "GetMessageClass", None)
    return get(descriptor) if get else message_factory.MessageFactory(pool).GetPrototype(descriptor)


class Service:
    """Has a method for each rpc of a service. The fields of the request are its named arguments."""

    def __init__(self, channel, name, metadata):
        service = next(s for f in contract.file for s in f.service if f"{f.package}.{s.name}" == name)
        for rpc in service.method:
            request, response = message(rpc.input_type[1:]), message(rpc.output_type[1:])
            kind = channel.unary_stream if rpc.server_streaming else channel.unary_unary
            path = f"/{name}/{rpc.name}"
            stub = kind(path, request_serializer=request.SerializeToString, response_deserializer=response.FromString)
            setattr(self, rpc.name, self._method(stub, request, metadata))

    @staticmethod
    def _method(stub, request, metadata):
        return lambda timeout=None, **fields: stub(request(**fields), metadata=metadata, timeout=timeout)


def error_info(error):
    """The google.rpc.ErrorInfo of a refusal: docs/errors.md lists the reasons and their facts. An error without
    details has no reason: no server was reached, or the call had no more time. Read error.code() then."""
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    status = message("google.rpc.Status").FromString(details)
    infos = [detail.value for detail in status.details if detail.type_url.endswith("/google.rpc.ErrorInfo")]
    return message("google.rpc.ErrorInfo").FromString(infos[0] if infos else b"")


address = os.environ.get("KESC_ADDRESS", "127.0.0.1:50051")
channel = grpc.insecure_channel(address, options=[("grpc.service_config", RETRIES)])
# A line break would make grpc raise an error that shows the key.
key = [("x-api-key", os.environ["KESC_API_KEY"].strip())]
accounts = Service(channel, "kesc.v1.AccountService", key)
transactions = Service(channel, "kesc.v1.TransactionService", key)
events = Service(channel, "kesc.v1.EventService", key)
user = str(uuid.uuid4())

account = accounts.CreateAccount(
    user_id=user, phone_number="0712345678", email="wanjiku@example.co.ke", timeout=10
).account
print("account", account.id)

deposit = dict(account_id=account.id, amount="1000.00", reference=f"deposit-{user}", rail="direct")
transaction = transactions.Mint(**deposit, timeout=10).transaction
print("minted", transaction.amount)

payout = dict(account_id=account.id, amount="250.00", reference=f"payout-{user}", rail="direct")
print("redeemed", transactions.Redeem(**payout, timeout=10).transaction.amount)

repeated = transactions.Mint(**deposit, timeout=10).transaction
print("repeated:", "the same transaction" if repeated.id == transaction.id else "ANOTHER ONE")

try:
    transactions.Redeem(**{**payout, "amount": "1000.00", "reference": f"too-much-{user}"}, timeout=10)
except grpc.RpcError as error:
    info = error_info(error)
    print("refused:", info.reason, info.metadata["available"])

# A program stores the sequence of an event with what it did, and begins after it the next time.
types = []
for batch in events.WatchEvents(account_id=account.id):
    types += [event.type for event in batch.events]
    if len(types) >= 3:
        break
print("events:", " ".join(types))
