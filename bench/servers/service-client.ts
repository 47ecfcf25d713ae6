import { Client, credentials, Metadata } from "@grpc/grpc-js";

import type { Account } from "../../src/gen/kesc/v1/account.js";
import type { TransactionStatus } from "../../src/gen/kesc/v1/transaction.js";
import type { ListTransactionsResponse, TransactionServiceService } from "../../src/gen/kesc/v1/transaction_service.js";
import { WebhookServiceService } from "../../src/gen/kesc/v1/webhook_service.js";
import { type Contract, OWN_CONTRACT, requestOf } from "../load/contract.js";

/** The most transactions that a page can have. */
export const PAGE_SIZE_MAX = 1000;

/** An rpc of the generated service definitions. */
interface Rpc<Request, Response> {
  path: string;
  requestDeserialize: (bytes: Buffer) => Request;
  requestSerialize: (request: Request) => Buffer;
  responseDeserialize: (bytes: Buffer) => Response;
}

/** A page of a list. */
export interface TransactionsPage {
  /** Empty for the list of the organization. */
  accountId: string;
  pageSize: number;
  /** Empty for the first page. */
  pageToken: string;
}

/** A plain client of any build, for the calls before and after the measurements. */
export class ServiceClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  readonly #accounts: Contract["accountService"]["AccountServiceService"];
  readonly #transactions: typeof TransactionServiceService;

  constructor(address: string, apiKey: string, { accountService, transactionService }: Contract = OWN_CONTRACT) {
    this.#accounts = accountService.AccountServiceService;
    this.#transactions = transactionService.TransactionServiceService;
    this.#client = new Client(address, credentials.createInsecure());
    this.#metadata.set("x-api-key", apiKey);
  }

  /** Creates `count` accounts and returns their ids. */
  async createAccounts(count: number): Promise<string[]> {
    const created = Array.from({ length: count }, async (_, i) => {
      const n = String(i).padStart(6, "0");
      const account = { user_id: `bench-${n}`, phone_number: `+254712${n}` };
      return (await this.#call(this.#accounts.createAccount, account)).account?.id ?? "";
    });
    return Promise.all(created);
  }

  /** The accounts with these ids, in this order. */
  async accounts(ids: string[]): Promise<(Account | undefined)[]> {
    const calls = ids.map((account_id) => this.#call(this.#accounts.getAccount, { account_id }));
    return (await Promise.all(calls)).map(({ account }) => account);
  }

  /** Mints once, on the default rail unless another one is named. Rejects with the refusal. */
  async mint(accountId: string, amount: string, reference: string, rail = ""): Promise<void> {
    await this.#call(this.#transactions.mint, { account_id: accountId, amount, reference, rail });
  }

  /** Redeems once on the named rail. Rejects with the refusal. */
  async redeem(accountId: string, amount: string, reference: string, rail: string): Promise<void> {
    await this.#call(this.#transactions.redeem, { account_id: accountId, amount, reference, rail });
  }

  async createWebhookEndpoint(url: string): Promise<void> {
    await this.#call(WebhookServiceService.createWebhookEndpoint, { url });
  }

  /** Whether a transaction of the organization has one of these statuses. */
  async hasAny(statuses: TransactionStatus[]): Promise<boolean> {
    // A build of before has the filter under its older name. Each build reads its own.
    const filter = { statuses, status: statuses };
    const page = await this.#call(this.#transactions.listTransactions, { ...filter, page_size: 1 });
    return page.transactions.length > 0;
  }

  /** The ids of all transactions of one account, newest first. */
  async transactionIds(accountId: string): Promise<string[]> {
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await this.transactionsPage({ accountId, pageSize: PAGE_SIZE_MAX, pageToken });
      ids.push(...page.transactions.map(({ id }) => id));
      // The last page of a build of before has an empty token.
      pageToken = page.next_page_token ?? "";
    } while (pageToken !== "");
    return ids;
  }

  /** One page of the transactions of an account, or of the whole organization; newest first. */
  transactionsPage({ accountId, pageSize, pageToken }: TransactionsPage): Promise<ListTransactionsResponse> {
    const page = { account_id: accountId, page_size: pageSize, page_token: pageToken };
    return this.#call(this.#transactions.listTransactions, page);
  }

  close(): void {
    this.#client.close();
  }

  #call<Request extends object, Response>(rpc: Rpc<Request, Response>, fields: Partial<Request>): Promise<Response> {
    const { path, requestSerialize: write, responseDeserialize: read } = rpc;
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<Request, Response>(
        path,
        write,
        read,
        requestOf(rpc, fields),
        this.#metadata,
        (error, response) => {
          if (response === undefined) reject(error ?? new Error(`${path} returned nothing`));
          else resolve(response);
        },
      );
    });
  }
}
