import { toUnixMillis } from "../../../domain/values/time.js";
import type { Count } from "../../../gen/kesc/admin/v1/resources.js";
import type { CappedCount } from "../../../statements/ports.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import { pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { fields } from "../../messages/operators/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import type { HandlersOptions } from "../operator-options.js";
import { isFor, lapsedIfRoleIsLost } from "../proposals/proposal-messages.js";
import { toSums } from "./money-acts.js";

const COUNT_MAX = 1_000;

/** The rpc that counts what waits for a person. It looks at some 5,000 rows at most. */
export function overviewRpc(options: HandlersOptions): Record<string, RpcRoute> {
  const { administration, cellOf, listTurns, now } = options;
  return {
    getOverview: organizationRpc("getOverview", {
      ...fields(),
      run: (_input, caller) => {
        const { organization } = caller;
        const { history } = cellOf(organization);
        const at = toUnixMillis(now());
        return pageInTurn(
          { listTurns, caller },
          async () => {
            const { result: waiting, lookedAt } = await history.waiting(organization.id, at);
            const sums = await history.currentSums(organization.id);
            const page = { afterId: undefined, size: COUNT_MAX + 1, waits: { organization } };
            const undecided = await administration.proposals(page);
            const operators = await administration.operators();
            const rows = undecided
              .map((proposal) => lapsedIfRoleIsLost(proposal, operators))
              .filter(({ decided }) => decided === undefined);
            return { rows, waiting, sums, lookedAt: lookedAt + undecided.length };
          },
          ({ rows, waiting, sums: { sums, seq, recordedAt } }) => ({
            flagged_transactions: toCount(waiting.flagged),
            old_open_payments: toCount(waiting.oldOpenPayments),
            oldest_open_payment_id: waiting.oldestOpenPayment?.id,
            oldest_open_payment_at: waiting.oldestOpenPayment && toTimestamp(waiting.oldestOpenPayment.createdAt),
            waiting_deposits: toCount(waiting.deposits),
            waiting_proposals: countOf(rows),
            proposals_for_me: countOf(rows.filter((proposal) => isFor(proposal, caller.who.operator))),
            sums: toSums({ sums }),
            as_of_sequence: seq === 0 ? undefined : BigInt(seq),
            as_of_time: seq === 0 ? undefined : toTimestamp(recordedAt),
            read_at: toTimestamp(at),
          }),
        );
      },
    }),
  };
}

function toCount({ count, hasMore }: CappedCount): Count {
  return { count, more: hasMore };
}

function countOf(rows: readonly unknown[]): Count {
  return { count: Math.min(rows.length, COUNT_MAX), more: rows.length > COUNT_MAX };
}
