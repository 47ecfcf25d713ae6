import json
import os

from openapi_client import AccountApi, ApiClient, ApiException, Configuration, TransactionApi
from openapi_client.models import (
    CreateAccountRequest,
    MintRequest,
    MintRequestAmount,
    RedeemRequest,
    RedeemRequestAmount,
)

user = os.environ["KESC_USER"]
client = ApiClient(Configuration(host=os.environ["KESC_URL"], api_key={"ApiKeyHeader": os.environ["KESC_API_KEY"]}))
accounts, transactions = AccountApi(client), TransactionApi(client)

opened = CreateAccountRequest(user_id=user, phone_number="0712345678", email="wanjiku@example.co.ke")
account = accounts.create_account(opened)


def mint(amount, reference):
    amount = MintRequestAmount(amount)
    request = MintRequest(account_id=account.id, amount=amount, reference=user + reference, rail="direct")
    return f"{transactions.mint(request).amount:.2f}"


result = {"minted": mint("12345678901.23", "-cents"), "whole": mint(3000000000.0, "-whole")}
result["balance"] = f"{accounts.get_account(account.id).available_balance:.2f}"
amount = RedeemRequestAmount("99999999999.99")
try:
    request = RedeemRequest(account_id=account.id, amount=amount, reference=user + "-too-much", rail="direct")
    transactions.redeem(request)
except ApiException as refusal:
    result["refused"] = refusal.data.actual_instance.code
print(json.dumps(result))
