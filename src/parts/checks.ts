import type { Logger } from "pino";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import { asking } from "../checks/ask.js";
import { PayoutChecks } from "../checks/checks.js";
import type { CheckAnswer } from "../domain/payout-check.js";
import { CHECKS } from "../domain/values/actor.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { PayoutCheckParts } from "../grpc/services/operator-options.js";
import type { Ledger } from "../ledger/ledger.js";
import { failureLog } from "../startup/failure-facts.js";
import { checkStore } from "../storage/checks/check-store.js";
import { type Cell, cellOf, type Database } from "../storage/database.js";
import { type AllowedHosts, parseWebhookUrl } from "../webhooks/allowed.js";
import { type Sender, senderTo } from "../webhooks/deliver.js";
import { cellLease, type Part, underLease } from "./lease.js";

interface CellChecksOptions {
  readonly ledger: Pick<Ledger, "submit">;
  readonly sender: Pick<Sender, "send">;
  readonly onDecided: (answer: CheckAnswer) => void;
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

const DECIDE_MILLIS_MAX = 30_000;

/** Puts the checks of payouts of one cell together. */
export function cellChecks(cell: Cell, { ledger, sender, onDecided, now, logger }: CellChecksOptions): Part {
  const onError = failureLog(logger, cell.number, "the checks of payouts failed at a step, and try it again");
  const lease = cellLease(cell, { name: "checks", onError, logger });
  const checks = new PayoutChecks({
    store: checkStore(cell),
    lease,
    ask: asking({ send: sender.send, now }),
    decide: async (organizationId, transactionId, decision) => {
      const command = { name: "decideCheck", organizationId, actor: CHECKS, transactionId, ...decision } as const;
      const outcome = await ledger.submit(command, toUnixMillis(now() + DECIDE_MILLIS_MAX), { rail: true });
      if (outcome.kind === "done") return;
      throw new Error(`the check of ${transactionId} was not noted: ${outcome.refusal.reason}`);
    },
    onDecided,
    timing: { now, ...SYSTEM_TIMING },
    onError,
  });
  return underLease(lease, checks);
}

/** What the rpcs about checks need of a database. */
export function payoutCheckParts(
  database: Database,
  { allowed, now }: { readonly allowed: AllowedHosts; readonly now: () => UnixMillis },
): PayoutCheckParts {
  const underWay = new Set<OrganizationId>();
  return {
    parseUrl: (unchecked) => parseWebhookUrl(unchecked, allowed),
    standing: (organization) => checkStore(cellOf(database, organization)).standing(organization.id),
    test: async (organizationId, standing) => {
      if (underWay.has(organizationId)) return { problem: "another test is under way" };
      underWay.add(organizationId);
      const sender = senderTo({ allowed, now });
      try {
        return await asking({ send: sender.send, now })(standing, "test", new AbortController().signal);
      } finally {
        underWay.delete(organizationId);
        sender.close();
      }
    },
  };
}
