import { parseReceiptText } from "../../domain/receipt.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { parseAccountId, parseDepositId } from "../../domain/values/ids.js";
import type { DepositInstruction } from "../../gen/kesc/v1/deposit.js";
import * as wire from "../../gen/kesc/v1/deposit_service.js";
import type { DepositFilters, DepositRail } from "../../ledger/ports/reads.js";
import { railNamed } from "../../rails/rails.js";
import { parseRange } from "../../statements/period.js";
import { done } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { parseDepositReasons, parseDepositStatuses, toDepositMessage } from "../messages/deposit.js";
import { given, ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import type { ListTurns } from "./list-turns.js";
import {
  askedPage,
  formatPageToken,
  type PagedList,
  type PageOfList,
  parsePageSize,
  parsePageToken,
} from "./paging.js";
import { SANDBOX_RAIL } from "./sandbox-service.js";
import type { CellOf } from "./served-cell.js";

/** Nobody can pay to it. CreateDeposit of the SandboxService pays in its place. */
const SANDBOX_NUMBER = "000000";

export interface DepositHandlersOptions {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
}

/**
 * The rpcs of kesc.v1.DepositService. An rpc of the contract without a handler does not compile.
 */
export function depositHandlers(options: DepositHandlersOptions): Record<keyof wire.DepositServiceService, UnaryRoute> {
  return {
    getDeposit: getDeposit(options.cellOf),
    listDeposits: listDeposits(options),
    getDepositInstructions: getDepositInstructions(options.cellOf),
  };
}

function getDeposit(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.GetDepositRequest,
    response: wire.GetDepositResponse,
    parse: (request) => parseFields({ deposit_id: parseDepositId(request.deposit_id) }),
    run: async ({ deposit_id: depositId }, { key }) => {
      const deposit = await cellOf(key).reads.deposit(key.organizationId, depositId);
      return deposit === undefined
        ? { kind: "refused", refusal: { reason: "DEPOSIT_NOT_FOUND", depositId } }
        : done({ deposit: toDepositMessage(deposit) });
    },
  });
}

function listDeposits({ cellOf, listTurns }: DepositHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListDepositsRequest,
    response: wire.ListDepositsResponse,
    parse: (request, { key }) => parseDepositList(request, key.organizationId),
    run: async ({ list, filters, page }, caller) => {
      const { reads } = cellOf(caller.key);
      const read = await listTurns.page(caller, () => reads.deposits(list.organizationId, filters, page));
      if ("reason" in read) return { kind: "refused", refusal: read };
      const { rows, nextBeforeSeq } = read;
      return done({ deposits: rows.map(toDepositMessage), next_page_token: formatPageToken(list, nextBeforeSeq) });
    },
  });
}

/** Parses the filters and the page of a list of deposits. */
function parseDepositList(
  request: wire.ListDepositsRequest,
  organizationId: OrganizationId,
): ParsedFields<PageOfList<PagedList> & { readonly filters: DepositFilters }> {
  const fields = parseFields({
    account_id: ifGiven(request.account_id, parseAccountId),
    statuses: parseDepositStatuses(request.statuses),
    reasons: parseDepositReasons(request.reasons),
    receipt: ifGiven(request.receipt, parseReceiptText),
    ...parseRange(request),
    page_size: parsePageSize(request.page_size),
    page_token: parsePageToken(request.page_token),
  });
  if (!fields.ok) return fields;
  const asked = fields.value;
  const filters = given({
    accountId: asked.account_id,
    status: asked.statuses,
    reason: asked.reasons,
    receipt: asked.receipt,
    createdAfter: asked.start,
    createdBefore: asked.end,
  });
  const page = askedPage({ rpc: "ListDeposits", organizationId, filters }, asked);
  return page.ok ? { ok: true, value: { ...page.value, filters } } : page;
}

function getDepositInstructions(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.GetDepositInstructionsRequest,
    response: wire.GetDepositInstructionsResponse,
    parse: (request) => parseFields({ account_id: parseAccountId(request.account_id) }),
    run: async ({ account_id: accountId }, { key }) => {
      const { reads, railAccounts } = cellOf(key);
      const account = await reads.account(key.organizationId, accountId);
      if (account === undefined) return { kind: "refused", refusal: { reason: "ACCOUNT_NOT_FOUND", accountId } };
      const { status, depositReference } = account;
      // Half of an instruction would send the shillings to nobody.
      if (status === "CLOSED" || depositReference === undefined) return done({ instructions: [] });
      const rails = await reads.depositRails(key.organizationId);
      const instructions = rails.flatMap((rail) => instructionOf(rail, depositReference));
      if (railAccounts.accountOf(key.organizationId, SANDBOX_RAIL) !== undefined) {
        const [rail, business_number] = [SANDBOX_RAIL, SANDBOX_NUMBER];
        instructions.push({ rail, business_number, deposit_reference: depositReference });
      }
      return done({ instructions });
    },
  });
}

/** Returns nothing for a rail that has no number to which people pay by hand. */
function instructionOf({ rail, settings }: DepositRail, depositReference: string): readonly DepositInstruction[] {
  const number = railNamed(rail)?.read(settings)?.facts["collect_shortcode"];
  return number === undefined ? [] : [{ rail, business_number: number, deposit_reference: depositReference }];
}
