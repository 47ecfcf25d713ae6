import { Client, credentials, Metadata } from "@grpc/grpc-js";

import type { Account } from "../src/gen/kesc/v1/account.js";
import { AccountServiceService } from "../src/gen/kesc/v1/account_service.js";
import { type ListTransactionsResponse, TransactionServiceService } from "../src/gen/kesc/v1/transaction_service.js";

/** The most transactions that a page can have. */
export const PAGE_SIZE_MAX = 1000;

/** How an rpc goes over the wire: what the generated service definitions hold. */
interface Rpc<Request, Response> {
  path: string;
  requestSerialize: (request: Request) => Buffer;
  responseDeserialize: (bytes: Buffer) => Response;
}

/** Which page of which list. */
export interface TransactionsPage {
  /** Empty for the list of the organization. */
  accountId: string;
  pageSize: number;
  /** Empty for the first page. */
  pageToken: string;
}

/** An ordinary client, for the calls before and after the measuring. */
export class ServiceClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(address: string, apiKey: string) {
    this.#client = new Client(address, credentials.createInsecure());
    this.#metadata.set("x-api-key", apiKey);
  }

  /** Creates `count` accounts and answers their ids. */
  async createAccounts(count: number): Promise<string[]> {
    const numbers = Array.from({ length: count }, (_, i) => String(i).padStart(6, "0"));
    const created = await Promise.all(
      numbers.map((n) =>
        this.#call(AccountServiceService.createAccount, {
          user_id: `bench-${n}`,
          phone_number: `+254712${n}`,
          email: "",
        }),
      ),
    );
    return created.map(({ account }) => account?.id ?? "");
  }

  /** The accounts with these ids, in this order. */
  async accounts(ids: string[]): Promise<(Account | undefined)[]> {
    const calls = ids.map((account_id) => this.#call(AccountServiceService.getAccount, { account_id }));
    return (await Promise.all(calls)).map(({ account }) => account);
  }

  /** The ids of all transactions of one account, newest first. */
  async transactionIds(accountId: string): Promise<string[]> {
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await this.transactionsPage({ accountId, pageSize: PAGE_SIZE_MAX, pageToken });
      ids.push(...page.transactions.map(({ id }) => id));
      pageToken = page.next_page_token;
    } while (pageToken !== "");
    return ids;
  }

  /** One page of the transactions of an account, or of the whole organization; newest first. */
  transactionsPage(page: TransactionsPage): Promise<ListTransactionsResponse> {
    return this.#call(TransactionServiceService.listTransactions, {
      account_id: page.accountId,
      type: 0,
      status: 0,
      reference: "",
      created_after: undefined,
      created_before: undefined,
      page_size: page.pageSize,
      page_token: page.pageToken,
    });
  }

  close(): void {
    this.#client.close();
  }

  #call<Request, Response>(rpc: Rpc<Request, Response>, request: Request): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<Request, Response>(
        rpc.path,
        rpc.requestSerialize,
        rpc.responseDeserialize,
        request,
        this.#metadata,
        (error, response) => {
          if (error) reject(error);
          else if (response === undefined) reject(new Error(`${rpc.path} answered nothing`));
          else resolve(response);
        },
      );
    });
  }
}
