import { createHash, randomBytes } from "node:crypto";

import { bankAccountOf, type BankNumber, type BusinessNumber, partsOf } from "../domain/destination.js";
import { formatCents } from "../domain/values/cents.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { SendDelivery } from "../webhooks/ports/delivery.js";
import { signedDelivery } from "../webhooks/sign.js";
import { readAnswer } from "./answer.js";
import { TRY_MILLIS_MAX } from "./limits.js";
import type { CheckedPayout, ServiceReply, StandingCheck } from "./ports.js";

const SALT_BYTES = 16;
const TYPE = "payout.check";
const TEST_TYPE = "payout.check_test";

interface AskOptions {
  readonly send: SendDelivery;
  readonly now: () => UnixMillis;
}

/** Asks the service of an organization once. Never rejects. */
export type Ask = (
  standing: StandingCheck,
  payout: CheckedPayout | "test",
  signal: AbortSignal,
) => Promise<ServiceReply>;

/**
 * Makes signed requests. The id of a request is the same for each try about a payout, so that a
 * service can answer as it did before.
 */
export function asking({ send, now }: AskOptions): Ask {
  return async ({ check, secrets }, payout, signal) => {
    const salt = randomBytes(SALT_BYTES).toString("base64url");
    const about =
      payout === "test"
        ? { id: `check_test_${salt}`, type: TEST_TYPE, data: { salt } }
        : { id: `check_${payout.id}`, type: TYPE, data: { ...dataOf(payout), salt } };
    const at = now();
    const event = { id: about.id, type: about.type, recordedAt: at, json: () => JSON.stringify(about.data) };
    const delivery = signedDelivery({ url: check.url, secrets }, event, at);
    const { problem, body = "" } = await send(delivery, { millis: TRY_MILLIS_MAX, signal, readsBody: true });
    if (problem !== "") return { problem };
    const read = readAnswer(body);
    if (read === undefined) return { problem: "its answer is none of the documented ones" };
    // The salt is in the request, and not in the book: who keeps the request can prove it.
    const exchangeSha256 = createHash("sha256").update(`${delivery.body}\n${body}`).digest("hex");
    return { ...read, exchangeSha256 };
  };
}

/** What a service needs to judge, and no more. */
function dataOf(payout: CheckedPayout): object {
  const { id, accountId, amountCents, rail, reference, destinationId } = payout;
  return {
    transaction_id: id,
    account_id: accountId,
    amount: formatCents(amountCents),
    rail,
    reference,
    destination: {
      id: destinationId,
      kind: payout.kind.toLowerCase(),
      ...numbersOf(payout),
      rail_name: payout.railName,
    },
  };
}

function numbersOf({ kind, number }: CheckedPayout): object {
  if (kind === "PHONE") return { phone_number: number };
  if (kind === "BANK") {
    const { bankCode, branchCode, account, holder } = bankAccountOf(number as BankNumber);
    return { bank_code: bankCode, branch_code: branchCode, account_number: account, name: holder };
  }
  const { business, accountNumber } = partsOf(number as BusinessNumber);
  return { number: business, account_number: accountNumber };
}
