import { AccountStatus } from "../../src/gen/kesc/v1/account.js";
import { AccountServiceService, GetAccountRequest, GetAccountResponse } from "../../src/gen/kesc/v1/account_service.js";
import { type Transaction, TransactionStatus, TransactionType } from "../../src/gen/kesc/v1/transaction.js";
import { MintRequest, MintResponse, TransactionServiceService } from "../../src/gen/kesc/v1/transaction_service.js";
import { EMPTY_ANSWER, EMPTY_PATH } from "../echo/empty-rpc.js";
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

/** The call that the job repeats. */
export function grpcCallOf(job: Job): GrpcCall {
  return MAKERS[job.call](job);
}

/** The reference of the mint with this serial number. All have the same length. */
export function referenceOf(serial: number): string {
  return `bench-${String(serial).padStart(12, "0")}`;
}

export function mintRequest(job: Job, { account, serial }: CallInFlight): MintRequest {
  return {
    account_id: job.accountIds[account] ?? "",
    amount: job.amount,
    reference: referenceOf(serial),
    description: "",
    metadata: new Map(),
    rail: "",
    payer_phone_number: "",
  };
}

/** A mint is right when it is completed and names the account, amount and reference of the call. */
export function problemInMint(job: Job, call: CallInFlight, transaction: Transaction | undefined): string | undefined {
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

const MAKERS: Record<CallName, (job: Job) => GrpcCall> = {
  mint: (job) => ({
    path: TransactionServiceService.mint.path,
    encode: (call) => MintRequest.encode(mintRequest(job, call)).finish(),
    check: (message, call) => problemInMint(job, call, MintResponse.decode(message).transaction),
  }),
  getAccount: ({ accountIds }) => ({
    path: AccountServiceService.getAccount.path,
    encode: ({ account }) =>
      GetAccountRequest.encode({
        account_id: accountIds[account] ?? "",
        as_of_time: undefined,
        as_of_sequence: 0n,
      }).finish(),
    check: (message, { account }) =>
      wrongField("an account's answer", GetAccountResponse.decode(message).account, {
        id: accountIds[account],
        status: AccountStatus.ACCOUNT_STATUS_ACTIVE,
      }),
  }),
  empty: (job) => ({
    path: EMPTY_PATH,
    encode: (call) => MintRequest.encode(mintRequest(job, call)).finish(),
    check: (message) => (message.equals(EMPTY_ANSWER) ? undefined : "an answer of the empty handler with other bytes"),
  }),
};
