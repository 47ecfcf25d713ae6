import { referenceOf, wrongField } from "./calls.js";
import type { Job } from "./job.js";
import { driveConnections, type HttpAnswer } from "./rest-load.js";
import type { CallInFlight, Tally } from "./tally.js";

/** The status of a transaction of Blnk that is written when it is answered. */
const DONE = "APPLIED";

/** The same as `driveRest`, with transactions of Blnk from a source of each connection. */
export function driveBlnk(job: Job, tally: Tally): Promise<void> {
  return driveConnections(job, tally, { pathOf: () => "/transactions", bodyOf, problemIn });
}

function bodyOf({ accountIds, amount, sources = [] }: Job, { account, serial }: CallInFlight, index: number): string {
  return JSON.stringify({
    amount: Number(amount),
    precision: 100,
    currency: "KES",
    reference: referenceOf(serial),
    description: "a mint",
    source: sources[index],
    destination: accountIds[account],
    allow_overdraft: true,
    skip_queue: true,
  });
}

function problemIn({ accountIds, amount }: Job, call: CallInFlight, { status, body }: HttpAnswer): string | undefined {
  if (status !== 201) return `HTTP ${String(status)}: ${body.slice(0, 200)}`;
  return wrongField("a transaction of Blnk", JSON.parse(body), {
    destination: accountIds[call.account],
    status: DONE,
    amount: Number(amount),
    reference: referenceOf(call.serial),
  });
}
