import * as wire from "../../gen/kesc/v1/transaction_service.js";
import type { ListTurns } from "../calls/list-turns.js";
import { done, refuse } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { fields, fieldsOf, KINDS } from "../messages/field-kinds.js";
import { joined } from "../messages/fields.js";
import { parseFlagReason, toPaymentMessage } from "../messages/payment.js";
import { parseResolution } from "../messages/resolution.js";
import { toTransactionMessage } from "../messages/transaction.js";
import type { MovementOptions } from "./move-money.js";
import type { CellOf } from "./served-cell.js";
import { authorityOf, authorOf, submit } from "./submit.js";

// The rpcs of kesc.v1.TransactionService about the payments that rails carry out.

// A message has up to 64 KiB. To show one takes as long as a list takes to look at some 20 rows.
const ROWS_PER_MESSAGE = 20;

export function getPayment(cellOf: CellOf, listTurns: ListTurns): UnaryRoute {
  return unary({
    request: wire.GetPaymentRequest,
    response: wire.GetPaymentResponse,
    ...fields("transaction_id"),
    run: async ({ transactionId }, caller) => {
      const { organization } = caller;
      const { reads, payments, inbox, heldReason, meaningOf, reportIn } = cellOf(organization);
      // Only this read compares the organization, so it comes first.
      const transaction = await reads.transaction(organization.id, transactionId);
      if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
      const payment = await payments.payment(transactionId);
      if (payment === undefined) return refuse({ reason: "PAYMENT_NOT_FOUND", transactionId });
      const messages = await listTurns.page(caller, async () => {
        const rows = await inbox.messages(transactionId);
        return { rows, nextBeforeSeq: undefined, lookedAt: rows.length * ROWS_PER_MESSAGE };
      });
      if ("reason" in messages) return refuse(messages);
      const told = messages.rows.map((message) => ({ ...message, report: reportIn(payment, message) }));
      const isHeld = transaction.heldFor.length > 0;
      const isWaiting = payment.state === "READY" && payment.direction === "REDEEM" && !isHeld;
      const account = isWaiting ? await reads.account(organization.id, transaction.accountId) : undefined;
      const held = isHeld ? undefined : await heldReason(payment, account?.status === "FROZEN");
      const shown = { transaction, heldReason: held, meaning: meaningOf(payment), messages: told };
      return done({ payment: toPaymentMessage(payment, shown) });
    },
  });
}

const resolved = fields("transaction_id", "note");

export function resolveTransaction({ cellOf, newTransactionId }: MovementOptions): UnaryRoute {
  return unary({
    request: wire.ResolveTransactionRequest,
    response: wire.ResolveTransactionResponse,
    parse: (request) =>
      joined(resolved.parse(request), parseResolution(request.outcome), (own, resolution) => ({ ...own, resolution })),
    run: async ({ note, ...given }, caller) => {
      const { organization } = caller;
      const facts = { newTransactionId: newTransactionId(), note };
      const about = { ...authorOf(caller), authority: authorityOf(caller), facts };
      const command = { name: "resolveTransaction", ...about, ...given } as const;
      const result = await submit(cellOf, caller, command, ({ resource }) => resource);
      if (result.kind === "refused") return result;
      const { transactionId } = given;
      const resolved = result.response;
      const transaction = resolved ?? (await cellOf(organization).reads.transaction(organization.id, transactionId));
      if (transaction === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
      const { RESOLUTION_STATE_DONE, RESOLUTION_STATE_PROPOSED } = wire.ResolutionState;
      const state = resolved === undefined ? RESOLUTION_STATE_PROPOSED : RESOLUTION_STATE_DONE;
      const correction = resolved?.correction && toTransactionMessage(resolved.correction);
      return { ...result, response: { state, transaction: toTransactionMessage(transaction), correction } };
    },
  });
}

export function clearFlag(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.ClearFlagRequest,
    response: wire.ClearFlagResponse,
    ...fieldsOf({ ...KINDS, flag: parseFlagReason })("transaction_id", "flag", "note"),
    run: (given, caller) => {
      const about = { ...authorOf(caller), authority: authorityOf(caller) };
      const command = { name: "clearFlag", ...about, ...given } as const;
      return submit(cellOf, caller, command, ({ resource }) => ({
        transaction: resource && toTransactionMessage(resource),
      }));
    },
  });
}
