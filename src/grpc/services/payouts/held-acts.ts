import { payoutFileIn } from "../../../domain/payout-file.js";
import type { Transaction } from "../../../domain/transaction.js";
import type { TransactionId } from "../../../domain/values/ids.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, type RpcResult } from "../../calls/rpc-result.js";
import { fields } from "../../messages/operators/fields.js";
import { toTransactionMessage } from "../../messages/transaction.js";
import { actRoute, type OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

/** The rpcs that decide about redemptions that are held. */
export function heldActs(options: HandlersOptions): Record<string, RpcRoute> {
  const act = actRoute(options);
  const shown = (transaction: Transaction | undefined) => ({
    transaction: transaction && toTransactionMessage(transaction),
  });
  /** Adds the file that the transaction names. The ledger refuses one that is not there. */
  const withFile = async <Given extends { readonly transactionId: TransactionId }>(
    given: Given,
    { organization }: OperatorCaller,
  ): Promise<RpcResult<Given & { readonly payoutFile: string | undefined }>> => {
    const transaction = await options.cellOf(organization).reads.transaction(organization.id, given.transactionId);
    return done({ ...given, payoutFile: transaction && payoutFileIn(transaction.metadata) });
  };
  return {
    releaseTransaction: act("releaseTransaction", { ...fields("transaction_id", "note"), shown }, withFile),
    refuseTransaction: act("refuseTransaction", { ...fields("transaction_id", "note"), shown }, withFile),
  };
}
