import type { DepositInstruction } from "../../gen/kesc/v1/deposit.js";
import * as wire from "../../gen/kesc/v1/deposit_service.js";
import type { DepositRail } from "../../ledger/ports/reads.js";
import { railNamed } from "../../rails/rails.js";
import { type ListTurns, pageInTurn } from "../calls/list-turns.js";
import { done, refuse } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { parseDepositReasons, parseDepositStatuses, toDepositMessage } from "../messages/deposit.js";
import { fields, fieldsOf } from "../messages/field-kinds.js";
import { AMOUNT_KINDS, formatPageToken, LIST_KINDS, listOf } from "./paging.js";
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
    ...fields("deposit_id"),
    run: async ({ depositId }, { organization }) => {
      const deposit = await cellOf(organization).reads.deposit(organization.id, depositId);
      return deposit === undefined
        ? refuse({ reason: "DEPOSIT_NOT_FOUND", depositId })
        : done({ deposit: toDepositMessage(deposit) });
    },
  });
}

const listFields = fieldsOf({
  ...LIST_KINDS,
  ...AMOUNT_KINDS,
  reasons: { as: "reason", parse: parseDepositReasons },
  statuses: { as: "status", parse: parseDepositStatuses },
});

const FILTERS = [
  ...(["account_id?", "statuses", "reasons", "receipt?"] as const),
  ...(["start", "end", "min_amount?", "max_amount"] as const),
] as const;

function listDeposits({ cellOf, listTurns }: DepositHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListDepositsRequest,
    response: wire.ListDepositsResponse,
    ...listOf("ListDeposits", listFields(...FILTERS, "page_size", "page_token")),
    run: ({ list, page }, caller) => {
      const { reads } = cellOf(caller.organization);
      return pageInTurn(
        { listTurns, caller },
        () => reads.deposits(list.organizationId, list.filters, page),
        ({ rows, nextBeforeSeq }) => ({
          deposits: rows.map(toDepositMessage),
          next_page_token: formatPageToken(list, nextBeforeSeq),
        }),
      );
    },
  });
}

function getDepositInstructions(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.GetDepositInstructionsRequest,
    response: wire.GetDepositInstructionsResponse,
    ...fields("account_id"),
    run: async ({ accountId }, { organization }) => {
      const { reads, railAccounts } = cellOf(organization);
      const account = await reads.account(organization.id, accountId);
      if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
      const { status, depositReference } = account;
      // Half of an instruction would send the shillings to nobody.
      if (status === "CLOSED" || depositReference === undefined) return done({ instructions: [] });
      const rails = await reads.depositRails(organization.id);
      const instructions = rails.flatMap((rail) => instructionOf(rail, depositReference));
      if (railAccounts.accountOf(organization.id, SANDBOX_RAIL) !== undefined) {
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
