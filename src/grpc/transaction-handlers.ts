import { parseAmount, type Cents } from "../domain/cents.js";
import type { MoveMoney } from "../domain/commands.js";
import { parseAccountId, parseTransactionId, type AccountId, type TransactionId } from "../domain/ids.js";
import {
  parseDescription,
  parseMetadata,
  parseReference,
  parseStatusReason,
  type Description,
  type Metadata,
  type Reference,
} from "../domain/text.js";
import { DIRECT_RAIL } from "../domain/transaction.js";
import type { Transaction as TransactionMessage } from "../gen/kesc/v1/transaction.js";
import {
  CancelTransactionRequest,
  CancelTransactionResponse,
  GetTransactionRequest,
  GetTransactionResponse,
  ListTransactionsRequest,
  ListTransactionsResponse,
  MintRequest,
  MintResponse,
  RedeemRequest,
  RedeemResponse,
} from "../gen/kesc/v1/transaction_service.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Reads } from "../storage/read-port.js";
import { actorOf, answerOf, done } from "./answer.js";
import { unary, type UnaryRoute, type UnaryRpc } from "./call.js";
import { given, ifGiven, parseFields } from "./fields.js";
import { formatPageToken, pageOf, parsePageSize, parsePageToken, type PagedList } from "./page-token.js";
import { parseEnd, parseMoment } from "./timestamp.js";
import { parseTransactionStatus, parseTransactionType, toTransactionMessage } from "./transaction-codec.js";

export interface TransactionHandlersOptions {
  readonly ledger: Pick<Ledger, "submit">;
  readonly reads: Pick<Reads, "transaction" | "transactions">;
  readonly newTransactionId: () => TransactionId;
}

/** The rpcs of kesc.v1.TransactionService. */
export function transactionHandlers(options: TransactionHandlersOptions): Record<string, UnaryRoute> {
  const { ledger, reads } = options;
  return {
    mint: unary({ request: MintRequest, response: MintResponse, ...moveMoney("mint", options) }),
    redeem: unary({ request: RedeemRequest, response: RedeemResponse, ...moveMoney("redeem", options) }),
    getTransaction: getTransaction(reads),
    listTransactions: listTransactions(reads),
    cancelTransaction: cancelTransaction(ledger),
  };
}

function getTransaction(reads: TransactionHandlersOptions["reads"]): UnaryRoute {
  return unary({
    request: GetTransactionRequest,
    response: GetTransactionResponse,
    parse: (request) => parseFields({ transaction_id: parseTransactionId(request.transaction_id) }),
    run: async ({ transaction_id: transactionId }, { key }) => {
      const transaction = await reads.transaction(key.organizationId, transactionId);
      return transaction === undefined
        ? { kind: "refused", refusal: { reason: "TRANSACTION_NOT_FOUND", transactionId } }
        : done({ transaction: toTransactionMessage(transaction) });
    },
  });
}

function listTransactions(reads: TransactionHandlersOptions["reads"]): UnaryRoute {
  return unary({
    request: ListTransactionsRequest,
    response: ListTransactionsResponse,
    parse: (request, { key }) => {
      const fields = parseFields({
        account_id: ifGiven(request.account_id, parseAccountId),
        type: parseTransactionType(request.type),
        status: parseTransactionStatus(request.status),
        reference: ifGiven(request.reference, parseReference),
        created_after: parseMoment(request.created_after),
        created_before: parseEnd(request.created_after, request.created_before),
        page_size: parsePageSize(request.page_size),
        page_token: parsePageToken(request.page_token),
      });
      if (!fields.ok) return fields;
      const { account_id, created_after, created_before, page_size: size, page_token: token, ...rest } = fields.value;
      const filters = given({
        ...rest,
        accountId: account_id,
        createdAfter: created_after,
        createdBefore: created_before,
      });
      const list: PagedList = { rpc: "ListTransactions", organizationId: key.organizationId, filters };
      const page = pageOf(list, { size, token });
      return page.ok ? { ok: true, value: { list, filters, page: page.value } } : page;
    },
    run: async ({ list, filters, page }) => {
      const { rows, nextBeforeSeq } = await reads.transactions(list.organizationId, filters, page);
      return done({
        transactions: rows.map(toTransactionMessage),
        next_page_token: formatPageToken(list, nextBeforeSeq),
      });
    },
  });
}

function cancelTransaction(ledger: TransactionHandlersOptions["ledger"]): UnaryRoute {
  return unary({
    request: CancelTransactionRequest,
    response: CancelTransactionResponse,
    parse: (request) =>
      parseFields({
        transaction_id: parseTransactionId(request.transaction_id),
        reason: parseStatusReason(request.reason),
      }),
    run: async ({ transaction_id: transactionId, reason }, { key, deadline }) => {
      const outcome = await ledger.submit(
        {
          name: "cancelTransaction",
          organizationId: key.organizationId,
          actor: actorOf(key),
          transactionId,
          reason,
        },
        deadline,
      );
      return answerOf(outcome, (transaction) => ({ transaction: toTransactionMessage(transaction) }));
    },
  });
}

type MoveMoneyRpc = UnaryRpc<
  MintRequest & RedeemRequest,
  { account_id: AccountId; amount: Cents; reference: Reference; description: Description; metadata: Metadata },
  { transaction: TransactionMessage | undefined }
>;

/** What the rpcs that move money have in common: all but their message types. */
function moveMoney(
  name: MoveMoney["name"],
  { ledger, newTransactionId }: Pick<TransactionHandlersOptions, "ledger" | "newTransactionId">,
): Pick<MoveMoneyRpc, "parse" | "run"> {
  return {
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        amount: parseAmount(request.amount),
        reference: parseReference(request.reference),
        description: parseDescription(request.description),
        metadata: parseMetadata(request.metadata),
      }),
    run: async (input, { key, idempotencyKey, deadline }) => {
      const outcome = await ledger.submit(
        {
          name,
          organizationId: key.organizationId,
          actor: actorOf(key),
          newTransactionId: newTransactionId(),
          accountId: input.account_id,
          amountCents: input.amount,
          reference: input.reference,
          description: input.description,
          metadata: input.metadata,
          rail: DIRECT_RAIL,
          idempotencyKey,
        },
        deadline,
      );
      return answerOf(outcome, (transaction) => ({ transaction: toTransactionMessage(transaction) }));
    },
  };
}
