import type { Transaction } from "../../src/gen/kesc/v1/transaction.js";
import type { MintRequest } from "../../src/gen/kesc/v1/transaction_service.js";
import { EMPTY_ANSWER, EMPTY_PATH } from "../echo/empty-rpc.js";
import { type Contract, OWN_CONTRACT, requestOf } from "./contract.js";
import type { CallName, Job } from "./job.js";
import type { CallInFlight } from "./tally.js";

/** One kind of gRPC call. */
export interface GrpcCall {
  path: string;
  /** Returns the request message. All requests of a job have the same length. */
  encode: (call: CallInFlight) => Uint8Array;
  /** Returns the cause why an answer is wrong, or undefined. Throws on bytes without a message. */
  check: (message: Buffer, call: CallInFlight) => string | undefined;
}

/** The call that the job repeats, in the contract of the build that answers. */
export function grpcCallOf(job: Job, contract: Contract): GrpcCall {
  return MAKERS[job.call](job, contract);
}

/** The reference of the mint with this serial number. All have the same length. */
export function referenceOf(serial: number): string {
  return `bench-${String(serial).padStart(12, "0")}`;
}

export function mintRequest(
  job: Job,
  { account, serial }: CallInFlight,
  { transactionService }: Contract = OWN_CONTRACT,
): MintRequest {
  return requestOf(transactionService.TransactionServiceService.mint, {
    account_id: job.accountIds[account] ?? "",
    amount: job.amount,
    reference: referenceOf(serial),
  });
}

/** A mint is right when it is completed and names the account, amount and reference of the call. */
export function problemInMint(
  job: Job,
  call: CallInFlight,
  transaction: Transaction | undefined,
  { transaction: { TransactionStatus, TransactionType } }: Pick<Contract, "transaction"> = OWN_CONTRACT,
): string | undefined {
  return wrongField("a mint's answer", transaction, {
    account_id: job.accountIds[call.account],
    type: TransactionType.TRANSACTION_TYPE_MINT,
    status: TransactionStatus.TRANSACTION_STATUS_COMPLETED,
    amount: job.amount,
    reference: referenceOf(call.serial),
  });
}

/** Names the first field of `actual` that is not as expected, or returns undefined. */
export function wrongField(what: string, actual: unknown, expected: Record<string, unknown>): string | undefined {
  if (typeof actual !== "object" || actual === null) return `${what} without its resource`;
  const wrong = Object.entries(expected).find(([field, value]) => Reflect.get(actual, field) !== value);
  return wrong === undefined ? undefined : `${what} with the wrong ${wrong[0]}`;
}

const MAKERS: Record<CallName, (job: Job, contract: Contract) => GrpcCall> = {
  mint: (job, contract) => {
    const { mint } = contract.transactionService.TransactionServiceService;
    return {
      path: mint.path,
      encode: (call) => mint.requestSerialize(mintRequest(job, call, contract)),
      check: (message, call) => problemInMint(job, call, mint.responseDeserialize(message).transaction, contract),
    };
  },
  getAccount: ({ accountIds }, contract) => {
    const { getAccount } = contract.accountService.AccountServiceService;
    return {
      path: getAccount.path,
      encode: ({ account }) =>
        getAccount.requestSerialize(requestOf(getAccount, { account_id: accountIds[account] ?? "" })),
      check: (message, { account }) =>
        wrongField("an account's answer", getAccount.responseDeserialize(message).account, {
          id: accountIds[account],
          status: contract.account.AccountStatus.ACCOUNT_STATUS_ACTIVE,
        }),
    };
  },
  empty: (job) => {
    const { mint } = OWN_CONTRACT.transactionService.TransactionServiceService;
    return {
      path: EMPTY_PATH,
      encode: (call) => mint.requestSerialize(mintRequest(job, call)),
      check: (message) =>
        message.equals(EMPTY_ANSWER) ? undefined : "an answer of the empty handler with other bytes",
    };
  },
};
