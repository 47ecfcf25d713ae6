import type { MoveMoney } from "../../domain/money/move-money.js";
import { parseReceipt } from "../../domain/receipt.js";
import type { Transaction } from "../../domain/transaction.js";
import { parseTransactionId } from "../../domain/values/ids.js";
import { parsed, unparsed } from "../../domain/values/parsed.js";
import { parseDescription, parseMetadata, parseReference, type StatusReason } from "../../domain/values/text.js";
import type { NumberWarning } from "../../gen/kesc/v1/payment.js";
import * as wire from "../../gen/kesc/v1/transaction_service.js";
import type { Caller } from "../calls/call-context.js";
import { type ListTurns, pageInTurn } from "../calls/list-turns.js";
import { done, refuse, resultOf } from "../calls/rpc-result.js";
import { stream, type StreamRoute } from "../calls/stream-call.js";
import { unary, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import { fields, fieldsOf } from "../messages/field-kinds.js";
import { parseFields } from "../messages/fields.js";
import {
  parseCorrection,
  parseTransactionStatuses,
  parseTransactionType,
  toTransactionMessage,
} from "../messages/transaction.js";
import { isBulk, parseBatch, runBatch } from "./batch-create.js";
import {
  type Movement,
  type MovementOptions,
  type MovementRequest,
  parseMovement,
  submitMovement,
} from "./move-money.js";
import { warningsOf } from "./number-warnings.js";
import { AMOUNT_KINDS, formatPageToken, LIST_KINDS, listOf } from "./paging.js";
import { clearFlag, getPayment, resolveTransaction } from "./payment-rpcs.js";
import type { CellOf, ServedCell } from "./served-cell.js";
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
    ...fields("transaction_id"),
    run: async ({ transactionId }, { organization }) => {
      const transaction = await cellOf(organization).reads.transaction(organization.id, transactionId);
      return transaction === undefined
        ? refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId })
        : done({ transaction: toTransactionMessage(transaction) });
    },
  });
}

const listFields = fieldsOf({
  ...LIST_KINDS,
  ...AMOUNT_KINDS,
  correction: parseCorrection,
  metadata: (pairs: ReadonlyMap<string, string>) => (pairs.size === 0 ? parsed(undefined) : parseMetadata(pairs)),
  needs_attention: parsed<boolean | undefined>,
  reference: parseReference,
  statuses: { as: "status", parse: parseTransactionStatuses },
  type: parseTransactionType,
});
const FILTERS = ["account_id?", "type", "statuses", "rail?", "correction", "reference?", "receipt?"] as const;
const RANGES = ["start", "end", "min_amount?", "max_amount", "metadata", "needs_attention"] as const;

function listTransactions({ cellOf, listTurns }: TransactionHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListTransactionsRequest,
    response: wire.ListTransactionsResponse,
    ...listOf("ListTransactions", listFields(...FILTERS, ...RANGES, "page_size", "page_token")),
    run: ({ list, page }, caller) => {
      const { reads } = cellOf(caller.organization);
      return pageInTurn(
        { listTurns, caller },
        () => reads.transactions(list.organizationId, list.filters, page),
        ({ rows, nextBeforeSeq }) => ({
          transactions: rows.map((row) => toTransactionMessage(row)),
          next_page_token: formatPageToken(list, nextBeforeSeq),
        }),
      );
    },
  });
}

function reverseTransaction({ cellOf, newTransactionId }: MovementOptions): UnaryRoute {
  return unary({
    request: wire.ReverseTransactionRequest,
    response: wire.ReverseTransactionResponse,
    parse: (request, { who }) =>
      parseFields({
        transaction_id: parseTransactionId(request.transaction_id),
        description: parseDescription(request.description),
        metadata:
          who.kind === "key" || request.metadata.size === 0
            ? parseMetadata(request.metadata)
            : unparsed("must be empty: a proposal has no place for it", "CONFLICT"),
        receipt: request.receipt === undefined ? parsed(undefined) : parseReceipt(request.receipt),
      }),
    run: ({ transaction_id: transactionId, ...content }, caller) => {
      const { who, idempotencyKey } = caller;
      const about = { name: "reverseTransaction", ...authorOf(caller), transactionId } as const;
      const facts = { newTransactionId: newTransactionId(), idempotencyKey };
      if (who.kind === "key") return submit(cellOf, caller, { ...about, ...facts, ...content }, transactionAlone);
      const { description, receipt } = content;
      const words = { note: description as string as StatusReason, receipt };
      const command = { ...about, authority: authorityOf(caller), facts, ...words };
      return submit(cellOf, caller, command, ({ resource }) => transactionAlone(resource));
    },
  });
}

function cancelTransaction(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.CancelTransactionRequest,
    response: wire.CancelTransactionResponse,
    ...fields("transaction_id", "note"),
    run: ({ transactionId, note: reason }, caller) => {
      const command = { name: "cancelTransaction", ...authorOf(caller), transactionId, reason } as const;
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
    parse: (request, { organization }) =>
      parseMovement(request, options.cellOf(organization).railAccounts.defaultRail(organization.id)),
    run: async (movement, caller) => {
      const outcome = await submitMovement(name, movement, { caller, options, bulk: false });
      if (name === "mint") return resultOf(outcome, transactionAlone);
      const warnings = await warningsOfRedemption(movement, options.cellOf(caller.organization), caller);
      return resultOf(outcome, (transaction) => ({ transaction: toTransactionMessage(transaction, warnings) }));
    },
  };
}

/** Reads the number that a redemption over a rail pays, if a rail may doubt it. */
async function warningsOfRedemption(
  { rail, account_id: accountId, destination_id: destinationId }: Movement,
  { railAccounts, reads }: ServedCell,
  { organization: { id: organizationId } }: Pick<Caller, "organization">,
): Promise<NumberWarning[]> {
  const account = railAccounts.accountOf(organizationId, rail.name);
  if (destinationId !== undefined || account?.rail.doubtsNumber === undefined) return [];
  const owner = await reads.account(organizationId, accountId);
  return warningsOf([account], owner?.person?.phoneNumber);
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
