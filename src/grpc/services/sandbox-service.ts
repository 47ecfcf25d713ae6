import type { Rail } from "../../domain/transaction.js";
import { parseTransactionId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import {
  AdvanceTransactionRequest,
  AdvanceTransactionResponse,
  type SandboxServiceService,
} from "../../gen/kesc/v1/sandbox_service.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { parseFields } from "../messages/fields.js";
import { toTransactionMessage } from "../messages/transaction.js";
import type { CellOf } from "./served-cell.js";

const SANDBOX_RAIL = "sandbox" as Rail;

export interface SandboxHandlersOptions {
  readonly cellOf: CellOf;
  readonly now: () => UnixMillis;
}

/**
 * The rpcs of kesc.v1.SandboxService. An rpc of the contract without a handler does not compile.
 */
export function sandboxHandlers({
  cellOf,
  now,
}: SandboxHandlersOptions): Record<keyof SandboxServiceService, UnaryRoute> {
  return {
    advanceTransaction: unary({
      request: AdvanceTransactionRequest,
      response: AdvanceTransactionResponse,
      parse: (request) => parseFields({ transaction_id: parseTransactionId(request.transaction_id) }),
      run: async ({ transaction_id: transactionId }, { key }) => {
        const { reads, payments, wake } = cellOf(key);
        const transaction = await reads.transaction(key.organizationId, transactionId);
        if (transaction === undefined) {
          return { kind: "refused", refusal: { reason: "TRANSACTION_NOT_FOUND", transactionId } };
        }
        const { rail } = transaction;
        if (rail !== SANDBOX_RAIL) {
          return { kind: "refused", refusal: { reason: "RAIL_NOT_SANDBOX", transactionId, rail } };
        }
        const hasAdvanced = await payments.advance(transactionId, now());
        if (hasAdvanced) wake();
        return { kind: "done", response: { transaction: toTransactionMessage(transaction) }, replayed: !hasAdvanced };
      },
    }),
  };
}
