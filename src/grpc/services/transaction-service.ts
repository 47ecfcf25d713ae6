import type { MoveMoney } from "../../domain/money/move-money.js";
import { parseReceipt, parseReceiptText } from "../../domain/receipt.js";
import { parseRail, type Transaction } from "../../domain/transaction.js";
import { parseAmount } from "../../domain/values/cents.js";
import { parseAccountId, parseTransactionId } from "../../domain/values/ids.js";
import { parsed, unparsed } from "../../domain/values/parsed.js";
import {
  parseDescription,
  parseMetadata,
  parseReference,
  parseStatusReason,
  type StatusReason,
} from "../../domain/values/text.js";
import * as wire from "../../gen/kesc/v1/transaction_service.js";
import { parseRange } from "../../statements/period.js";
import { done, resultOf } from "../calls/rpc-result.js";
import { stream, type StreamRoute } from "../calls/stream-call.js";
import { unary, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import { given, ifGiven, parseFields } from "../messages/fields.js";
import {
  parseCorrection,
  parseMaxAmount,
  parseTransactionStatuses,
  parseTransactionType,
  toTransactionMessage,
} from "../messages/transaction.js";
import { isBulk, parseBatch, runBatch } from "./batch-create.js";
import type { ListTurns } from "./list-turns.js";
import {
  type Movement,
  type MovementOptions,
  type MovementRequest,
  parseMovement,
  submitMovement,
} from "./move-money.js";
import { askedPage, formatPageToken, parsePageSize, parsePageToken } from "./paging.js";
import { clearFlag, getPayment, resolveTransaction } from "./payment-rpcs.js";
import type { CellOf } from "./served-cell.js";
import { authorityOf, authorOf, submit } from "./submit.js";

export interface TransactionHandlersOptions extends MovementOptions {
  readonly listTurns: ListTurns;
}

/**
 * The rpcs of kesc.v1.TransactionService. An rpc of the contract without a handler does not
 * compile.
 */
export function transactionHandlers(
  options: TransactionHandlersOptions,
): Record<keyof wire.TransactionServiceService, UnaryRoute | StreamRoute> {
  const { cellOf } = options;
  return {
    mint: unary({ request: wire.MintRequest, response: wire.MintResponse, ...moveMoney("mint", options) }),
    redeem: unary({ request: wire.RedeemRequest, response: wire.RedeemResponse, ...moveMoney("redeem", options) }),
    batchCreateTransactions: batchCreateTransactions(options),
    importTransactions: importTransactions(options),
    getTransaction: getTransaction(cellOf),
    listTransactions: listTransactions(options),
    reverseTransaction: reverseTransaction(options),
    cancelTransaction: cancelTransaction(cellOf),
    getPayment: getPayment(cellOf, options.listTurns),
    resolveTransaction: resolveTransaction(options),
    clearFlag: clearFlag(cellOf),
  };
}

function getTransaction(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.GetTransactionRequest,
    response: wire.GetTransactionResponse,
    parse: (request) => parseFields({ transaction_id: parseTransactionId(request.transaction_id) }),
    run: async ({ transaction_id: transactionId }, { key }) => {
      const transaction = await cellOf(key).reads.transaction(key.organizationId, transactionId);
      return transaction === undefined
        ? { kind: "refused", refusal: { reason: "TRANSACTION_NOT_FOUND", transactionId } }
        : done({ transaction: toTransactionMessage(transaction) });
    },
  });
}

function listTransactions({ cellOf, listTurns }: TransactionHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListTransactionsRequest,
    response: wire.ListTransactionsResponse,
    parse: (request, { key }) => {
      const fields = parseFields({
        account_id: ifGiven(request.account_id, parseAccountId),
        type: parseTransactionType(request.type),
        statuses: parseTransactionStatuses(request.statuses),
        rail: ifGiven(request.rail, parseRail),
        correction: parseCorrection(request.correction),
        reference: ifGiven(request.reference, parseReference),
        receipt: ifGiven(request.receipt, parseReceiptText),
        ...parseRange(request),
        min_amount: ifGiven(request.min_amount, parseAmount),
        max_amount: parseMaxAmount(request.min_amount, request.max_amount),
        metadata: parseMetadata(request.metadata),
        needs_attention: parsed(request.needs_attention),
        page_size: parsePageSize(request.page_size),
        page_token: parsePageToken(request.page_token),
      });
      if (!fields.ok) return fields;
      const asked = fields.value;
      const filters = given({
        accountId: asked.account_id,
        type: asked.type,
        status: asked.statuses,
        rail: asked.rail,
        correction: asked.correction,
        reference: asked.reference,
        receipt: asked.receipt,
        createdAfter: asked.start,
        createdBefore: asked.end,
        minAmountCents: asked.min_amount,
        maxAmountCents: asked.max_amount,
        metadata: asked.metadata.size === 0 ? undefined : asked.metadata,
        needsAttention: asked.needs_attention,
      });
      return askedPage({ rpc: "ListTransactions", organizationId: key.organizationId, filters }, asked);
    },
    run: async ({ list, page }, caller) => {
      const { reads } = cellOf(caller.key);
      const read = await listTurns.page(caller, () => reads.transactions(list.organizationId, list.filters, page));
      if ("reason" in read) return { kind: "refused", refusal: read };
      const { rows, nextBeforeSeq } = read;
      return done({
        transactions: rows.map(toTransactionMessage),
        next_page_token: formatPageToken(list, nextBeforeSeq),
      });
    },
  });
}

function reverseTransaction({ cellOf, newTransactionId }: MovementOptions): UnaryRoute {
  return unary({
    request: wire.ReverseTransactionRequest,
    response: wire.ReverseTransactionResponse,
    parse: (request, { key }) =>
      parseFields({
        transaction_id: parseTransactionId(request.transaction_id),
        description: parseDescription(request.description),
        metadata:
          key.operator === undefined || request.metadata.size === 0
            ? parseMetadata(request.metadata)
            : unparsed("must be empty: a proposal has no place for it", "CONFLICT"),
        receipt: request.receipt === undefined ? parsed(undefined) : parseReceipt(request.receipt),
      }),
    run: ({ transaction_id: transactionId, ...content }, caller) => {
      const { key, idempotencyKey } = caller;
      const about = { name: "reverseTransaction", ...authorOf(key), transactionId } as const;
      const facts = { newTransactionId: newTransactionId(), idempotencyKey };
      if (key.operator === undefined)
        return submit(cellOf, caller, { ...about, ...facts, ...content }, transactionAlone);
      const { description, receipt } = content;
      const words = { note: description as string as StatusReason, receipt };
      const command = { ...about, authority: authorityOf(key), facts, ...words };
      return submit(cellOf, caller, command, ({ resource }) => transactionAlone(resource));
    },
  });
}

function cancelTransaction(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.CancelTransactionRequest,
    response: wire.CancelTransactionResponse,
    parse: (request) =>
      parseFields({
        transaction_id: parseTransactionId(request.transaction_id),
        note: parseStatusReason(request.note),
      }),
    run: ({ transaction_id: transactionId, note: reason }, caller) => {
      const command = { name: "cancelTransaction", ...authorOf(caller.key), transactionId, reason } as const;
      return submit(cellOf, caller, command, transactionAlone);
    },
  });
}

/** The parts that Mint and Redeem share. Only their message types differ. */
function moveMoney(
  name: MoveMoney["name"],
  options: MovementOptions,
): Pick<UnaryRpc<MovementRequest, Movement, wire.MintResponse & wire.RedeemResponse>, "parse" | "run"> {
  return {
    parse: (request, { key }) =>
      parseMovement(request, options.cellOf(key).railAccounts.defaultRail(key.organizationId)),
    run: async (movement, caller) => {
      const outcome = await submitMovement(name, movement, { caller, options, bulk: false });
      return resultOf(outcome, transactionAlone);
    },
  };
}

function transactionAlone(transaction: Transaction | undefined): wire.ReverseTransactionResponse {
  return { transaction: transaction && toTransactionMessage(transaction) };
}

function batchCreateTransactions(options: MovementOptions): UnaryRoute {
  return unary({
    request: wire.BatchCreateTransactionsRequest,
    response: wire.BatchCreateTransactionsResponse,
    parse: (request, caller) => parseBatch(request, caller, options.cellOf),
    run: async (batch, caller) => {
      const { response, items } = await runBatch(batch, caller, {
        ...options,
        bulk: isBulk(batch),
        bucket: caller.bucket,
      });
      return { kind: "done", response, replayed: false, items };
    },
  });
}

function importTransactions(options: MovementOptions): StreamRoute {
  return stream({
    request: wire.ImportTransactionsRequest,
    response: wire.ImportTransactionsResponse,
    parse: (request, caller) => parseBatch(request, caller, options.cellOf),
    // A stream counts as one call: it has bounds of its own, and waits while the server is busy.
    run: (batch, caller) => runBatch(batch, caller, { ...options, bulk: true, bucket: undefined }),
  });
}
