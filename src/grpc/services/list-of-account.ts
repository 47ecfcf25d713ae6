import type { AccountId, OrganizationId } from "../../domain/values/ids.js";
import type { Page, PageRequest, Reads } from "../../ledger/ports/reads.js";
import { type ListTurns, pageInTurn } from "../calls/list-turns.js";
import { refuse } from "../calls/rpc-result.js";
import { unary, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import { fieldsOf } from "../messages/field-kinds.js";
import { formatPageToken, LIST_KINDS, listOf } from "./paging.js";
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
    ...listOf(rpc, fieldsOf(LIST_KINDS)("account_id", "page_size", "page_token")),
    run: async ({ list, page }, caller) => {
      const { organizationId, filters } = list;
      const { accountId } = filters;
      const { reads } = cellOf(caller.organization);
      const account = await reads.account(organizationId, accountId);
      if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
      return pageInTurn(
        { listTurns, caller },
        () => read(reads, organizationId, accountId, page),
        ({ rows, nextBeforeSeq }) => responseOf(rows, formatPageToken(list, nextBeforeSeq)),
      );
    },
  });
}
