#!/usr/bin/env bash
# Mints over gRPC for ten seconds with ghz (https://ghz.sh, 0.93), as a first load test:
#
#   KESC_API_KEY=kesc_… ACCOUNT_ID=acc_… examples/clients/load.sh
#
# Each mint has a reference of its own, or all but the first would be replays. One key makes 1,000 calls a second and
# saves up 30 seconds of them (docs/api.md, Rates): RATE_LIMITED is an answer, too.
set -euo pipefail
cd "$(dirname "$0")/../.."

call=$(printf '{"account_id": "%s", "amount": "1.00", "rail": "direct", "reference": "load-%s-{{.RequestNumber}}"}' \
  "${ACCOUNT_ID:?}" "$(date +%s)")
ghz --insecure --protoset dist/proto/kesc.binpb --call kesc.v1.TransactionService.Mint \
  --metadata "{\"x-api-key\": \"${KESC_API_KEY:?}\"}" --data "$call" \
  --concurrency "${CONCURRENCY:-50}" --duration "${DURATION:-10s}" --duration-stop wait "${KESC_ADDRESS:-127.0.0.1:50051}"
