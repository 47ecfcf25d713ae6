import { Connection, type KescClientOptions } from "./connection.js";
import type {
  AccountService,
  BookService,
  DepositService,
  EventService,
  OrganizationService,
  SandboxService,
  TransactionService,
  WebhookService,
} from "./gen/tables.js";
import { type Methods, methodsOf } from "./rpcs.js";

export type * from "./gen/messages.js";
export type { KescClientOptions } from "./connection.js";
export { KescError } from "./kesc-error.js";
export type { Answer, KeyOptions, Methods, Pages } from "./rpcs.js";
export type { CallOptions } from "./unary.js";
export { type Delivery, verifyWebhook } from "./webhook.js";

/**
 * A client of the service. Each rpc is a method of its service. What a response has goes through
 * JSON.stringify: a time is a text of RFC 3339, a sequence a number, an enum a text, and an amount
 * a text with two fraction digits. A field that is absent is undefined.
 *
 * A call that may succeed later is repeated until its time is over: every repeat is safe
 * (docs/api.md, "Repeating a call"). A call that fails rejects with a KescError, and one with an
 * argument of a wrong type with a TypeError that names the field.
 */
export class KescClient {
  readonly accounts: Methods<AccountService>;
  readonly transactions: Methods<TransactionService>;
  readonly deposits: Methods<DepositService>;
  readonly events: Methods<EventService>;
  readonly webhooks: Methods<WebhookService>;
  readonly books: Methods<BookService>;
  readonly organization: Methods<OrganizationService>;
  readonly sandbox: Methods<SandboxService>;
  readonly #connection: Connection;

  /** Connects at the first call. Throws a TypeError if the key cannot be a header. */
  constructor(options: KescClientOptions) {
    const connection = new Connection(options);
    this.#connection = connection;
    this.accounts = methodsOf(connection, "AccountService");
    this.transactions = methodsOf(connection, "TransactionService");
    this.deposits = methodsOf(connection, "DepositService");
    this.events = methodsOf(connection, "EventService");
    this.webhooks = methodsOf(connection, "WebhookService");
    this.books = methodsOf(connection, "BookService");
    this.organization = methodsOf(connection, "OrganizationService");
    this.sandbox = methodsOf(connection, "SandboxService");
  }

  /** Closes the connection. Calls under way and later ones fail with the code CANCELLED. */
  close(): void {
    this.#connection.close();
  }
}
