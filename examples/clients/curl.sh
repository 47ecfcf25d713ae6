#!/bin/sh
# sh curl.sh: REST with curl and jq. KESC_API_KEY is a key, KESC_URL the address of the gateway.
set -eu
url=${KESC_URL:-http://127.0.0.1:8080}
user=$(cat /proc/sys/kernel/random/uuid)

# A repeat is safe, so curl may repeat by itself: --retry honours Retry-After.
kesc() { curl -sS --retry 5 --max-time 30 -H "X-API-Key: $KESC_API_KEY" -H 'Content-Type: application/json' "$@"; }

account=$(kesc "$url/accounts" \
  -d '{"user_id": "'"$user"'", "phone_number": "0712345678", "email": "wanjiku@example.co.ke"}' | jq -r .id)
echo "account $account"

deposit='{"account_id": "'"$account"'", "amount": 1000.00, "reference": "deposit-'"$user"'", "rail": "direct"}'
minted=$(kesc "$url/transactions/mint" -d "$deposit")
printf 'minted %.2f\n' "$(echo "$minted" | jq .amount)"

payout='{"account_id": "'"$account"'", "amount": 250.00, "reference": "payout-'"$user"'", "rail": "direct"}'
printf 'redeemed %.2f\n' "$(kesc "$url/transactions/redeem" -d "$payout" | jq .amount)"

repeated=$(kesc "$url/transactions/mint" -d "$deposit" | jq -r .id)
if [ "$repeated" = "$(echo "$minted" | jq -r .id)" ]; then echo 'repeated: the same transaction'; else echo 'repeated: ANOTHER ONE'; fi

too_much='{"account_id": "'"$account"'", "amount": 1000.00, "reference": "too-much-'"$user"'", "rail": "direct"}'
problem=$(kesc "$url/transactions/redeem" -d "$too_much")
printf 'refused: %s %.2f\n' "$(echo "$problem" | jq -r .code)" "$(echo "$problem" | jq .available)"

# With "Accept: text/event-stream" the same address goes on with each new event: examples/events.
echo "events: $(kesc "$url/events?account_id=$account" | jq -r '[.events[].type] | join(" ")')"
