import { parseEventTypes, typesOf } from "../../../domain/event-types.js";
import type { AccountId, OperatorId, TransactionId } from "../../../domain/values/ids.js";
import type { ListJournalRequest } from "../../../gen/kesc/admin/v1/admin_service.js";
import type { PageRequest } from "../../../ledger/ports/reads.js";
import { parseRange } from "../../../statements/period.js";
import type { JournalFilter, JournalRequest } from "../../../statements/ports.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import { pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { fieldProblem, given, ifGiven, type ParsedFields, parseFields } from "../../messages/fields.js";
import { parseId } from "../../messages/operators/fields.js";
import { namesOf, toJournalEntry } from "../../messages/operators/messages.js";
import type { OperatorCaller } from "../acts.js";
import { parseAsOfSequence } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";
import { type AskedPage, parseOwnPage } from "../pages.js";
import { formatPageToken } from "../paging.js";

/** The rpc that lists the rows of a book. A page looks at 1,001 rows at most. */
export function journalRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { administration, cellOf, listTurns } = options;
  return {
    listJournal: organizationRpc("listJournal", {
      parse: parseJournalList,
      run: async ({ asked: { list, page }, ...range }, caller) => {
        const { organization } = caller;
        const names = namesOf(await administration.operators());
        return pageInTurn(
          { listTurns, caller },
          async () => {
            const read = await cellOf(organization).history.journal(organization.id, { ...range, ...page });
            return { ...read.result, lookedAt: read.lookedAt };
          },
          ({ rows, nextBeforeSeq }) => ({
            entries: rows.map((row) => toJournalEntry(row, { organizationId: organization.id, names })),
            next_page_token: formatPageToken(list, nextBeforeSeq),
          }),
        );
      },
    }),
  };
}

interface AskedJournal extends Omit<JournalRequest, keyof PageRequest> {
  readonly asked: AskedPage;
}

const FILTERS = ["account_id", "transaction_id", "operator_id", "own"] as const;

function parseJournalList(request: ListJournalRequest, caller: OperatorCaller): ParsedFields<AskedJournal> {
  const { start_sequence, end_sequence, account_id, transaction_id, operator_id, own, types, start, end } = request;
  const filters = { account_id, transaction_id, operator_id, own, types, start, end };
  const texts = { start_sequence: start_sequence?.toString(), end_sequence: end_sequence?.toString() };
  const asked = parseOwnPage(request, caller, "ListJournal", { ...filters, ...texts });
  const range = parseRange({ start, end });
  const fields = parseFields({
    start_sequence: parseAsOfSequence(start_sequence, undefined),
    end_sequence: parseAsOfSequence(end_sequence, undefined),
    account_id: ifGiven(account_id, parseId<AccountId>),
    transaction_id: ifGiven(transaction_id, parseId<TransactionId>),
    operator_id: ifGiven(operator_id, parseId<OperatorId>),
    types: parseEventTypes(types),
    ...range,
  });
  if (!asked.ok || !fields.ok) {
    return { ok: false, fields: [...(asked.ok ? [] : asked.fields), ...(fields.ok ? [] : fields.fields)] };
  }
  const [first, second] = FILTERS.filter((name) => request[name] !== "" && request[name] !== false);
  if (second !== undefined) return fieldProblem(second, `must be absent if ${String(first)} is given`, "CONFLICT");
  const { account_id: accountId, transaction_id: transactionId, operator_id: operatorId } = fields.value;
  const filter: JournalFilter = given({ accountId, transactionId, operatorId, own: own ? (true as const) : undefined });
  const { start_sequence: startSeq = 1, end_sequence: endSeq = Number.MAX_SAFE_INTEGER } = fields.value;
  const { types: asksTypes, start: createdAfter, end: createdBefore } = fields.value;
  const rows = { startSeq, endSeq, types: asksTypes && typesOf(asksTypes), createdAfter, createdBefore };
  return { ok: true, value: { asked: asked.value, filter, ...rows } };
}
