import { judgeRule } from "../../../domain/reserve.js";
import { nairobiDayOf } from "../../../domain/values/nairobi-day.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import { GetSupplyRequest, GetSupplyResponse } from "../../../gen/kesc/v1/book_service.js";
import type { Supply as SupplyMessage } from "../../../gen/kesc/v1/supply.js";
import { type History, sumsAsOf } from "../../../statements/as-of.js";
import { reserveAsOf } from "../../../statements/reserve-history.js";
import type { ListTurns } from "../../calls/list-turns.js";
import { done } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fieldsOf, KINDS } from "../../messages/field-kinds.js";
import { toSupplyMessage } from "../../messages/history/supply.js";
import type { CellOf } from "../served-cell.js";
import { asOfKinds, asOfOf, positionAt, readingHistory } from "./history-turns.js";

export interface HistoryHandlersOptions {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
  readonly now: () => UnixMillis;
}

export function getSupply({ cellOf, listTurns, now }: HistoryHandlersOptions): UnaryRoute {
  return unary({
    request: GetSupplyRequest,
    response: GetSupplyResponse,
    ...fieldsOf({ ...KINDS, ...asOfKinds(now) })("as_of_time", "as_of_sequence"),
    run: (point, caller) => {
      const { history: reads } = cellOf(caller.organization);
      const { id: organizationId } = caller.organization;
      return readingHistory({ organizationId, caller, listTurns, reads }, async (history) => {
        const asOf = asOfOf(point);
        if (asOf !== undefined) {
          const { seq, recordedAt } = await positionAt(history, asOf);
          const { sums, turnover } = await sumsAsOf(history, seq);
          const moment = "before" in asOf ? asOf.before : recordedAt;
          const figures = moment === undefined ? [] : await reserveAsOf(history, moment);
          const facts = { sums, turnover, seq, recordedAt, backing: undefined, figures, now: now() };
          return done({ supply: toSupplyMessage(facts) });
        }
        return done({ supply: await currentSupply(history, now) });
      });
    },
  });
}

/** Returns the sums of a book as they are now, and what backs them. */
async function currentSupply(
  { organizationId, reads, inTurn }: History,
  now: () => UnixMillis,
): Promise<SupplyMessage> {
  const at = now();
  const openPayments = await inTurn(() => reads.openPayments(organizationId, at));
  const railBalances = await reads.railBalances(organizationId);
  const reserveHoldings = await reads.reserveHoldings(organizationId);
  const { sums, seq, recordedAt, reserveRules } = await reads.currentSums(organizationId);
  const known = { figures: reserveHoldings, reserveCents: sums.reserve, today: nairobiDayOf(at) };
  const rules = reserveRules.map((rule) => judgeRule(rule, known));
  const backing = { openPayments, railBalances, reserveHoldings, rules };
  return toSupplyMessage({ sums, turnover: undefined, seq, recordedAt, backing, figures: [], now: now() });
}
