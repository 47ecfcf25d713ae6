import { type ChannelCredentials, Client, credentials, status as Status } from "@grpc/grpc-js";

import type { Account } from "../gen/kesc/v1/account.js";
import { AccountServiceService, type ListAccountsRequest } from "../gen/kesc/v1/account_service.js";
import type { Event } from "../gen/kesc/v1/event.js";
import { EventServiceService, type WatchEventsRequest } from "../gen/kesc/v1/event_service.js";
import { OrganizationServiceService } from "../gen/kesc/v1/organization_service.js";
import { SandboxServiceService } from "../gen/kesc/v1/sandbox_service.js";
import { SealServiceService } from "../gen/kesc/v1/seal_service.js";
import type { StatementLine } from "../gen/kesc/v1/statement.js";
import { type GetStatementRequest, StatementServiceService } from "../gen/kesc/v1/statement_service.js";
import { SupplyServiceService } from "../gen/kesc/v1/supply_service.js";
import type { Transaction } from "../gen/kesc/v1/transaction.js";
import {
  type ListTransactionsRequest,
  type MintRequest,
  type RedeemRequest,
  type TransactionRequest,
  TransactionServiceService,
} from "../gen/kesc/v1/transaction_service.js";
import { WebhookServiceService } from "../gen/kesc/v1/webhook_service.js";
import type { CallOptions, Connection } from "./call.js";
import { KescError } from "./kesc-error.js";
import { itemsOf } from "./pages.js";
import { type Rpcs, rpcsOf } from "./rpcs.js";
import { watchEvents, type WatchOptions } from "./watch-events.js";

export type { CallOptions } from "./call.js";
export { type FieldError, KescError, type KescErrorReason } from "./kesc-error.js";
export type { WatchOptions } from "./watch-events.js";

const TIMEOUT_MILLIS = 30_000;
const KEEPALIVE_MILLIS = 60_000;
const LOOPBACK = /^(localhost|127\.[0-9.]+|\[::1\]):[0-9]+$/;

export interface KescClientOptions {
  /** "host:port" of the gRPC server. */
  readonly address: string;
  /** White space around it is cut off. */
  readonly apiKey: string;
  /** Default: TLS with the roots of the system. An address of the loopback needs none. */
  readonly credentials?: ChannelCredentials;
  /** The time for a call with all its tries, in milliseconds. Default: 30 seconds. */
  readonly timeoutMillis?: number;
}

/** One mint or redemption of a batch. */
export type BatchItem = ({ readonly mint: Partial<MintRequest> } | { readonly redeem: Partial<RedeemRequest> }) & {
  readonly idempotencyKey?: string;
};

/** The outcome of one request of a batch. */
export type BatchOutcome =
  { readonly transaction: Transaction; readonly replayed: boolean } | { readonly error: KescError };

/**
 * A client of the service. Each unary rpc is a method of its service. A call that may succeed later
 * is repeated until its time is over: every repeat is safe (docs/api.md, "Repeating a call"). A
 * call that fails rejects with a KescError.
 */
export class KescClient {
  readonly accounts: Rpcs<typeof AccountServiceService>;
  readonly transactions: Rpcs<typeof TransactionServiceService>;
  readonly events: Rpcs<typeof EventServiceService>;
  readonly webhooks: Rpcs<typeof WebhookServiceService>;
  readonly statements: Rpcs<typeof StatementServiceService>;
  readonly organization: Rpcs<typeof OrganizationServiceService>;
  readonly supply: Rpcs<typeof SupplyServiceService>;
  readonly seals: Rpcs<typeof SealServiceService>;
  readonly sandbox: Rpcs<typeof SandboxServiceService>;
  readonly #connection: Connection;

  /** Connects at the first call. Throws a KescError if the key cannot be a header. */
  constructor({ address, apiKey, credentials: given, timeoutMillis = TIMEOUT_MILLIS }: KescClientOptions) {
    const key = headerOf(apiKey);
    const plain = LOOPBACK.test(address) ? credentials.createInsecure() : credentials.createSsl();
    const client = new Client(address, given ?? plain, { "grpc.keepalive_time_ms": KEEPALIVE_MILLIS });
    this.#connection = { client, apiKey: key, timeoutMillis };
    this.accounts = rpcsOf(AccountServiceService, this.#connection);
    this.transactions = rpcsOf(TransactionServiceService, this.#connection);
    this.events = rpcsOf(EventServiceService, this.#connection);
    this.webhooks = rpcsOf(WebhookServiceService, this.#connection);
    this.statements = rpcsOf(StatementServiceService, this.#connection);
    this.organization = rpcsOf(OrganizationServiceService, this.#connection);
    this.supply = rpcsOf(SupplyServiceService, this.#connection);
    this.seals = rpcsOf(SealServiceService, this.#connection);
    this.sandbox = rpcsOf(SandboxServiceService, this.#connection);
  }

  /** Makes up to 1,000 mints and redemptions. Returns the outcome of each, in the same order. */
  async batch(items: readonly BatchItem[], options?: CallOptions): Promise<BatchOutcome[]> {
    const { batchCreateTransactions } = this.transactions;
    const { results } = await batchCreateTransactions({ requests: items.map(requestOf) }, options);
    return results.map(({ outcome, replayed }) => {
      if (outcome?.$case === "transaction") return { transaction: outcome.value, replayed };
      return { error: KescError.ofStatus(outcome?.value ?? { code: 2, message: "no outcome", details: [] }) };
    });
  }

  /** Yields all accounts that match, from all pages. */
  allAccounts(request: Partial<ListAccountsRequest> = {}, options?: CallOptions): AsyncGenerator<Account, void, void> {
    const { listAccounts } = this.accounts;
    return itemsOf(
      (page_token) => listAccounts({ ...request, page_token }, options),
      ({ accounts }) => accounts,
    );
  }

  /** Yields all transactions that match, newest first, from all pages. */
  allTransactions(
    request: Partial<ListTransactionsRequest> = {},
    options?: CallOptions,
  ): AsyncGenerator<Transaction, void, void> {
    const { listTransactions } = this.transactions;
    return itemsOf(
      (page_token) => listTransactions({ ...request, page_token }, options),
      ({ transactions }) => transactions,
    );
  }

  /** Yields all lines of a statement, oldest first, from all pages. */
  allStatementLines(
    request: Partial<GetStatementRequest>,
    options?: CallOptions,
  ): AsyncGenerator<StatementLine, void, void> {
    const { getStatement } = this.statements;
    return itemsOf(
      (page_token) => getStatement({ ...request, page_token }, options),
      ({ lines }) => lines,
    );
  }

  /**
   * Yields each event after the sequence, in order, and then each new one. Goes on by itself after
   * a lost connection. Throws a KescError that no other try would mend.
   */
  watchEvents(
    request: Partial<WatchEventsRequest> = {},
    options: WatchOptions = {},
  ): AsyncGenerator<Event, void, void> {
    return watchEvents(this.#connection, request, options);
  }

  /** Closes the connection. Calls that are under way fail. */
  close(): void {
    this.#connection.client.close();
  }
}

/**
 * Returns the key as a header has it. grpc-js would throw an error that shows the key, and errors
 * get into logs.
 */
function headerOf(apiKey: string): string {
  const key = apiKey.trim();
  if (/^[\x21-\x7e]*$/.test(key)) return key;
  const nothing = { reason: undefined, facts: {}, fields: [], retryAfterMillis: undefined };
  throw new KescError(Status.INVALID_ARGUMENT, "apiKey must be one line of printable ASCII characters", nothing);
}

function requestOf(item: BatchItem): TransactionRequest {
  const { mint, redeem } = TransactionServiceService;
  const idempotency_key = item.idempotencyKey ?? "";
  const nothing = Buffer.alloc(0);
  const movement: TransactionRequest["movement"] =
    "mint" in item
      ? { $case: "mint", value: { ...mint.requestDeserialize(nothing), ...item.mint } }
      : { $case: "redeem", value: { ...redeem.requestDeserialize(nothing), ...item.redeem } };
  return { movement, idempotency_key };
}
