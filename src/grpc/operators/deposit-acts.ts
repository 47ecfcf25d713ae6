import type { Deposit } from "../../domain/deposit.js";
import { parseThroughRail } from "../../domain/deposits/return-deposit.js";
import type { RailReceipt } from "../../domain/payment.js";
import { parseReceiptText } from "../../domain/receipt.js";
import type { DepositId, OrganizationId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { railNamed } from "../../rails/rails.js";
import type { RpcRoute } from "../calls/route.js";
import { done, refuse, type RpcResult } from "../calls/rpc-result.js";
import { toDepositMessage } from "../messages/deposit.js";
import { fieldsOf } from "../messages/field-kinds.js";
import { parseFields } from "../messages/fields.js";
import { actRoute, newIds } from "./acts.js";
import { fields, OPERATORS_KINDS } from "./fields.js";
import type { HandlersOptions } from "./options.js";
import { readOrganization } from "./reading.js";

const returnFields = fieldsOf({ ...OPERATORS_KINDS, receipt: parseReturnReceipt });

/** The fields of each decision about a deposit that is there. */
const COMMON = ["organization_id", "deposit_id", "note"] as const;

/** The rpcs that decide about deposits. */
export function depositActs(options: HandlersOptions): Record<string, RpcRoute> {
  const act = actRoute(options);
  const shown = (deposit: Deposit | undefined) => ({ deposit: deposit && toDepositMessage(deposit) });
  return {
    recordDeposit: act("recordDeposit", {
      ...fields("organization_id", "receipt", "amount", "account_id?", "note"),
      shown,
    }),
    assignDeposit: act("assignDeposit", { ...fields(...COMMON, "account_id"), shown }),
    unassignDeposit: act("unassignDeposit", { ...fields(...COMMON), shown }, (given) =>
      withDeposit(options, given, (deposit) => {
        // Nobody has the new id. The ledger then says why there is no credit to take back.
        const transactionId = deposit?.transactionId ?? newIds().newTransactionId;
        return done({ ...given, transactionId });
      }),
    ),
    returnDeposit: act("returnDeposit", { ...returnFields(...COMMON, "receipt"), shown }, (given) =>
      given.receipt === undefined
        ? withDeposit(options, given, (deposit) => refusalToReturn(deposit) ?? done(given))
        : Promise.resolve(done(given)),
    ),
    reverseDeposit: act("reverseDeposit", { ...fields(...COMMON, "receipt"), shown }, (given) =>
      withDeposit(options, given, (deposit) => done({ ...given, transactionId: deposit?.transactionId })),
    ),
  };
}

/**
 * Completes a command from the deposit as it is. The mint that credits it names the account that
 * the ledger must lock. If another one credits it by then, the ledger refuses the command.
 */
function withDeposit<Whole>(
  options: HandlersOptions,
  { organizationId, depositId }: { readonly organizationId: OrganizationId; readonly depositId: DepositId },
  complete: (deposit: Deposit | undefined) => RpcResult<Whole>,
): Promise<RpcResult<Whole>> {
  return readOrganization(options, organizationId, async (found) =>
    complete(await options.cellOf(found).reads.deposit(organizationId, depositId)),
  );
}

/** Either the receipt of a return is given, or the rail is asked for it: then it is undefined. */
function parseReturnReceipt(
  receipt: string,
  { through_rail: isThroughRail }: { readonly through_rail: boolean },
): Parsed<RailReceipt | undefined> {
  if (!isThroughRail) return parseReceiptText(receipt);
  return receipt === "" ? parsed(undefined) : unparsed("must be empty with through_rail");
}

/** Lets only a rail return the deposit that can. The ledger refuses one that is not there. */
function refusalToReturn(deposit: Deposit | undefined): RpcResult<never> | undefined {
  if (deposit === undefined) return undefined;
  const returnsPayments = railNamed(deposit.rail)?.returnsPayments === true;
  const checked = parseFields({ through_rail: parseThroughRail(deposit.rail, returnsPayments) });
  return checked.ok ? undefined : refuse({ reason: "INVALID_FIELD", fields: checked.fields });
}
