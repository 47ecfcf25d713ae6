import { type AccountId, type OrganizationId, parseAccountId } from "../../domain/values/ids.js";
import type { Page, PageRequest, Reads } from "../../ledger/ports/reads.js";
import { done } from "../calls/rpc-result.js";
import { unary, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import { parseFields } from "../messages/fields.js";
import type { ListTurns } from "./list-turns.js";
import { askedPage, formatPageToken, parsePageSize, parsePageToken } from "./paging.js";
import type { CellOf } from "./served-cell.js";

interface Options {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
}

interface Request {
  readonly account_id: string;
  readonly page_size?: number | undefined;
  readonly page_token: string;
}

interface ListOfAccount<Row, Response> extends Pick<UnaryRpc<Request, unknown, Response>, "request" | "response"> {
  /** For example "ListFreezes". */
  readonly rpc: string;
  readonly read: (
    reads: Reads,
    organizationId: OrganizationId,
    accountId: AccountId,
    page: PageRequest,
  ) => Promise<Page<Row>>;
  readonly responseOf: (rows: readonly Row[], next_page_token: string | undefined) => Response;
}

/** Makes the handler of a list that each account has, such as its freezes. */
export function listOfAccount<Row, Response>(
  { cellOf, listTurns }: Options,
  { rpc, request, response, read, responseOf }: ListOfAccount<Row, Response>,
): UnaryRoute {
  return unary({
    request,
    response,
    parse: ({ account_id, page_size, page_token }, { key }) => {
      const fields = parseFields({
        account_id: parseAccountId(account_id),
        page_size: parsePageSize(page_size),
        page_token: parsePageToken(page_token),
      });
      if (!fields.ok) return fields;
      const filters = { accountId: fields.value.account_id };
      return askedPage({ rpc, organizationId: key.organizationId, filters }, fields.value);
    },
    run: async ({ list, page }, caller) => {
      const { organizationId, filters } = list;
      const { accountId } = filters;
      const { reads } = cellOf(caller.key);
      const account = await reads.account(organizationId, accountId);
      if (account === undefined) return { kind: "refused", refusal: { reason: "ACCOUNT_NOT_FOUND", accountId } };
      const rows = await listTurns.page(caller, () => read(reads, organizationId, accountId, page));
      if ("reason" in rows) return { kind: "refused", refusal: rows };
      return done(responseOf(rows.rows, formatPageToken(list, rows.nextBeforeSeq)));
    },
  });
}
