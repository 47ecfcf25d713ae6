import { pathToFileURL } from "node:url";

import * as account from "../../src/gen/kesc/v1/account.js";
import * as accountService from "../../src/gen/kesc/v1/account_service.js";
import * as transaction from "../../src/gen/kesc/v1/transaction.js";
import * as transactionService from "../../src/gen/kesc/v1/transaction_service.js";
import { distOf } from "../options.js";

/**
 * The generated code of one build, whose messages have the numbers and fields of that build's
 * contract. Other builds have the types of this one: what a caller names must be in all of them.
 */
export interface Contract {
  readonly account: typeof account;
  readonly accountService: typeof accountService;
  readonly transaction: typeof transaction;
  readonly transactionService: typeof transactionService;
}

export const OWN_CONTRACT: Contract = { account, accountService, transaction, transactionService };

/** Loads the contract of the build that this `kesc` command belongs to. It must be compiled. */
export async function contractOf(kesc: string): Promise<Contract> {
  const load = async (file: string): Promise<unknown> =>
    import(pathToFileURL(`${distOf(kesc)}src/gen/kesc/v1/${file}.js`).href);
  return {
    account: (await load("account")) as typeof account,
    accountService: (await load("account_service")) as typeof accountService,
    transaction: (await load("transaction")) as typeof transaction,
    transactionService: (await load("transaction_service")) as typeof transactionService,
  };
}

/** The request of an rpc with these fields. All others are as if they had not been sent. */
export function requestOf<Request extends object>(
  { requestDeserialize: read }: { readonly requestDeserialize: (bytes: Buffer) => Request },
  fields: Partial<Request>,
): Request {
  return { ...read(NOTHING), ...fields };
}

const NOTHING = Buffer.alloc(0);
