import { formatCents } from "../../../domain/values/cents.js";
import { GetStatementRequest, GetStatementResponse } from "../../../gen/kesc/v1/book_service.js";
import { NO_BALANCES } from "../../../statements/as-of.js";
import { statementLineOf } from "../../../statements/exports.js";
import { balancesAt, rowsOf, totalOf } from "../../../statements/statement.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { toStatementLine } from "../../messages/history/statement.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { formatPageToken, LIST_KINDS, listOf } from "../paging.js";
import { periodKinds, readingHistory } from "./history-turns.js";
import type { HistoryHandlersOptions } from "./supply-rpcs.js";

export function getStatement({ cellOf, listTurns, now }: HistoryHandlersOptions): UnaryRoute {
  return unary({
    request: GetStatementRequest,
    response: GetStatementResponse,
    ...listOf(
      "GetStatement",
      fieldsOf({ ...LIST_KINDS, ...periodKinds(now) })("account_id", "start", "end", "page_size", "page_token"),
    ),
    run: async ({ list, page }, caller) => {
      const { reads, history } = cellOf(caller.organization);
      const { organizationId, filters } = list;
      const { accountId, start, end } = filters;
      // Only this read compares the organization, so it comes first.
      const account = await reads.account(organizationId, accountId);
      if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
      return readingHistory({ organizationId, caller, listTurns, reads: history }, async (own) => {
        const { afterSeq, toSeq } = await rowsOf(own, { start, end });
        const opening = await balancesAt(own, { accountId, seq: afterSeq });
        const closing = await balancesAt(own, { accountId, seq: toSeq });
        // The token of a statement says after which row the page begins: it goes forward.
        const request = { accountId, afterSeq: page.beforeSeq ?? afterSeq, toSeq, size: page.size };
        const { lines, nextAfterSeq } = await own.inTurn(() => history.accountLines(organizationId, request));
        return done({
          start: toTimestamp(start),
          end: toTimestamp(end),
          opening_balance: formatCents(totalOf(opening)),
          closing_balance: formatCents(totalOf(closing)),
          lines: lines.map((line) => {
            const balances = line.balancesAfter ?? NO_BALANCES;
            return toStatementLine({ ...statementLineOf(line), balances }, { organizationId, accountId });
          }),
          next_page_token: formatPageToken(list, nextAfterSeq),
        });
      });
    },
  });
}
