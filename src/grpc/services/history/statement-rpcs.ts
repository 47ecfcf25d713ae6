import { formatCents } from "../../../domain/values/cents.js";
import { parseAccountId } from "../../../domain/values/ids.js";
import { GetStatementRequest, GetStatementResponse } from "../../../gen/kesc/v1/book_service.js";
import { NO_BALANCES } from "../../../statements/as-of.js";
import { statementLineOf } from "../../../statements/exports.js";
import { parsePeriod } from "../../../statements/period.js";
import { balancesAt, rowsOf, totalOf } from "../../../statements/statement.js";
import { done } from "../../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import { parseFields } from "../../messages/fields.js";
import { toStatementLine } from "../../messages/history/statement.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { askedPage, formatPageToken, parsePageSize, parsePageToken } from "../paging.js";
import { readingHistory } from "./history-turns.js";
import type { HistoryHandlersOptions } from "./supply-rpcs.js";

export function getStatement({ cellOf, listTurns, now }: HistoryHandlersOptions): UnaryRoute {
  return unary({
    request: GetStatementRequest,
    response: GetStatementResponse,
    parse: (request, { key }) => {
      const fields = parseFields({
        account_id: parseAccountId(request.account_id),
        ...parsePeriod(request, now()),
        page_size: parsePageSize(request.page_size),
        page_token: parsePageToken(request.page_token),
      });
      if (!fields.ok) return fields;
      const { account_id: accountId, start, end } = fields.value;
      const filters = { accountId, start, end };
      return askedPage({ rpc: "GetStatement", organizationId: key.organizationId, filters }, fields.value);
    },
    run: async ({ list, page }, caller) => {
      const { reads, history } = cellOf(caller.key);
      const { organizationId, filters } = list;
      const { accountId, start, end } = filters;
      // Only this read compares the organization, so it comes first.
      const account = await reads.account(organizationId, accountId);
      if (account === undefined) return { kind: "refused", refusal: { reason: "ACCOUNT_NOT_FOUND", accountId } };
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
            return toStatementLine({ ...statementLineOf(line), balances });
          }),
          next_page_token: formatPageToken(list, nextAfterSeq),
        });
      });
    },
  });
}
