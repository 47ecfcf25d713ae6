import type { Deposit } from "../../../domain/deposit.js";
import { parseThroughRail } from "../../../domain/deposits/return-deposit.js";
import type { RailReceipt } from "../../../domain/payment.js";
import { parseReceiptText } from "../../../domain/receipt.js";
import type { DepositId } from "../../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { newIds } from "../../../operators/authority.js";
import { railNamed } from "../../../rails/rails.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse, type RpcResult } from "../../calls/rpc-result.js";
import { toDepositMessage } from "../../messages/deposit.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { parseFields } from "../../messages/fields.js";
import { fields, OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { actRoute, type OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

const returnFields = fieldsOf({ ...OPERATORS_KINDS, receipt: parseReturnReceipt });

/** The fields of each decision about a deposit that is there. */
const COMMON = ["deposit_id", "note"] as const;

/** The rpcs that decide about deposits. */
export function depositActs(options: HandlersOptions): Record<string, RpcRoute> {
  const act = actRoute(options);
  const shown = (deposit: Deposit | undefined) => ({ deposit: deposit && toDepositMessage(deposit) });
  return {
    recordDeposit: act("recordDeposit", {
      ...fields("receipt", "amount", "account_id?", "note"),
      shown,
    }),
    assignDeposit: act("assignDeposit", { ...fields(...COMMON, "account_id"), shown }),
    unassignDeposit: act("unassignDeposit", { ...fields(...COMMON), shown }, (given, caller) =>
      withDeposit(options, given, caller, (deposit) => {
        // Nobody has the new id. The ledger then says why there is no credit to take back.
        const transactionId = deposit?.transactionId ?? newIds().newTransactionId;
        return done({ ...given, transactionId });
      }),
    ),
    returnDeposit: act("returnDeposit", { ...returnFields(...COMMON, "receipt"), shown }, (given, caller) =>
      given.receipt === undefined
        ? withDeposit(options, given, caller, (deposit) => refusalToReturn(deposit) ?? done(given))
        : Promise.resolve(done(given)),
    ),
    reverseDeposit: act("reverseDeposit", { ...fields(...COMMON, "receipt"), shown }, (given, caller) =>
      withDeposit(options, given, caller, (deposit) => done({ ...given, transactionId: deposit?.transactionId })),
    ),
  };
}

/**
 * Completes a command from the deposit as it is. The mint that credits it names the account that
 * the ledger must lock. If another one credits it by then, the ledger refuses the command.
 */
async function withDeposit<Whole>(
  { cellOf }: HandlersOptions,
  { depositId }: { readonly depositId: DepositId },
  { organization }: OperatorCaller,
  complete: (deposit: Deposit | undefined) => RpcResult<Whole>,
): Promise<RpcResult<Whole>> {
  return complete(await cellOf(organization).reads.deposit(organization.id, depositId));
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
