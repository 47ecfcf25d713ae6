import { typeidUnboxed } from "typeid-js";

import { parseTypedReference } from "../../domain/deposit.js";
import { parseReceiptText } from "../../domain/receipt.js";
import type { Rail } from "../../domain/transaction.js";
import type { Actor } from "../../domain/values/actor.js";
import type { DepositId, TransactionId } from "../../domain/values/ids.js";
import { maskPhone } from "../../domain/values/masked-phone.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import type { UnixMillis } from "../../domain/values/time.js";
import * as wire from "../../gen/kesc/v1/sandbox_service.js";
import { refuse, resultOf } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { toDepositMessage } from "../messages/deposit.js";
import { fields, fieldsOf, KINDS } from "../messages/field-kinds.js";
import { toTransactionMessage } from "../messages/transaction.js";
import type { CellOf } from "./served-cell.js";

export const SANDBOX_RAIL = "sandbox" as Rail;

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
}: SandboxHandlersOptions): Record<keyof wire.SandboxServiceService, UnaryRoute> {
  return {
    advanceTransaction: unary({
      request: wire.AdvanceTransactionRequest,
      response: wire.AdvanceTransactionResponse,
      ...fields("transaction_id"),
      run: async ({ transactionId }, { organization }) => {
        const { reads, payments, wake } = cellOf(organization);
        const transaction = await reads.transaction(organization.id, transactionId);
        if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
        if ((await payments.payment(transactionId)) === undefined)
          return refuse({ reason: "PAYMENT_NOT_FOUND", transactionId });
        const { rail } = transaction;
        if (rail !== SANDBOX_RAIL) return refuse({ reason: "RAIL_NOT_SANDBOX", transactionId, rail });
        const hasAdvanced = await payments.advance(transactionId, now());
        if (hasAdvanced) wake();
        return { kind: "done", response: { transaction: toTransactionMessage(transaction) }, replayed: !hasAdvanced };
      },
    }),
    createDeposit: createDeposit({ cellOf, now }),
  };
}

/** Books what the list of a rail would bring: a sandbox has none. */
function createDeposit({ cellOf, now }: SandboxHandlersOptions): UnaryRoute {
  return unary({
    request: wire.CreateDepositRequest,
    response: wire.CreateDepositResponse,
    ...fieldsOf({
      ...KINDS,
      payer_phone_number: { as: "phone", parse: parsePhoneNumber },
      receipt: (receipt: string) => parseReceiptText(receipt === "" ? "" : `${SANDBOX_RAIL}:${receipt}`),
      typed_reference: parseTypedReference,
    })("amount", "typed_reference", "payer_phone_number?", "receipt"),
    run: async ({ phone, ...given }, { organization, idempotencyKey, deadline, trace }) => {
      const { ledger, railAccounts } = cellOf(organization);
      const organizationId = organization.id;
      const account = railAccounts.accountOf(organizationId, SANDBOX_RAIL);
      if (account === undefined) return refuse({ reason: "RAIL_NOT_CONFIGURED", rail: SANDBOX_RAIL });
      const outcome = await ledger.submit(
        {
          name: "receiveDeposit",
          organizationId,
          actor: SANDBOX_RAIL as string as Actor,
          newDepositId: typeidUnboxed("dep") as string as DepositId,
          newTransactionId: typeidUnboxed("txn") as string as TransactionId,
          rail: SANDBOX_RAIL,
          railAccountId: account.id,
          ...given,
          orderId: undefined,
          confirmedReceipts: [],
          phone: phone === undefined ? undefined : maskPhone(phone),
          paidAt: now(),
          creation: { idempotencyKey },
        },
        deadline,
        { trace },
      );
      return resultOf(outcome, ({ deposit }) => ({ deposit: deposit && toDepositMessage(deposit) }));
    },
  });
}
