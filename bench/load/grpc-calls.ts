import { AccountStatus } from "../../src/gen/kesc/v1/account.js";
import { AccountServiceService, GetAccountRequest } from "../../src/gen/kesc/v1/account_service.js";
import { TransactionStatus, TransactionType } from "../../src/gen/kesc/v1/transaction.js";
import {
  GetTransactionRequest,
  MintRequest,
  TransactionServiceService,
} from "../../src/gen/kesc/v1/transaction_service.js";
import { EMPTY_ANSWER, EMPTY_PATH } from "../echo/empty-rpc.js";
import { FieldScan, sameBytes } from "./field-scan.js";
import type { CallName, Job } from "./job.js";
import { BLANK_REFERENCE, readSerial } from "./reference.js";
import type { CallInFlight } from "./tally.js";

// As plain numbers: that is how they stand on the wire.
const ACTIVE: number = AccountStatus.ACCOUNT_STATUS_ACTIVE;
const MINT: number = TransactionType.TRANSACTION_TYPE_MINT;
const COMPLETED: number = TransactionStatus.TRANSACTION_STATUS_COMPLETED;

/**
 * Says what is wrong with the answer in `bytes` from `start` to `end`, or undefined when it is
 * right.
 */
export type AnswerCheck = (bytes: Buffer, start: number, end: number, call: CallInFlight) => string | undefined;

/** One kind of call as it goes over the wire. */
export interface GrpcCall {
  path: string;
  /**
   * The request message for each of the job's accounts, with a blank reference where it has one.
   */
  messages: Uint8Array[];
  check: AnswerCheck;
}

/** The call that the job repeats. */
export function grpcCallOf(job: Job): GrpcCall {
  return makers[job.call](job);
}

const makers: Record<CallName, (job: Job) => GrpcCall> = {
  mint: (job) => ({ path: TransactionServiceService.mint.path, messages: mintMessages(job), check: mintCheck(job) }),
  getAccount: (job) => ({
    path: AccountServiceService.getAccount.path,
    messages: job.accountIds.map((account_id) => GetAccountRequest.encode({ account_id }).finish()),
    check: accountCheck(job),
  }),
  getTransaction: (job) => ({
    path: TransactionServiceService.getTransaction.path,
    messages: transactionIdsOf(job).map((transaction_id) => GetTransactionRequest.encode({ transaction_id }).finish()),
    check: transactionCheck(job),
  }),
  empty: (job) => ({ path: EMPTY_PATH, messages: mintMessages(job), check: emptyCheck }),
};

function mintMessages(job: Job): Uint8Array[] {
  const { amount } = job;
  return job.accountIds.map((account_id) =>
    MintRequest.encode({
      account_id,
      amount,
      reference: BLANK_REFERENCE,
      description: "",
      metadata: new Map(),
    }).finish(),
  );
}

/**
 * A mint's answer is right when it is completed and names the account, the amount and the reference
 * that were sent.
 */
export function mintCheck(job: Job): AnswerCheck {
  const accountIds = job.accountIds.map((id) => Buffer.from(id));
  const amount = Buffer.from(job.amount);
  const fields = new FieldScan();
  return (bytes, start, end, call) => {
    if (!enterFirstField(fields, bytes, start, end)) return "a mint's answer without a transaction";
    let seen = 0;
    while (fields.next()) {
      const wrong = wrongMintField(fields, bytes, call, accountIds[call.account], amount);
      if (wrong === undefined) continue;
      if (wrong !== "") return `a mint's answer with the wrong ${wrong}`;
      seen += 1;
    }
    return seen === 5 ? undefined : "a mint's answer that lacks a field";
  };
}

/** The name of the field if it is wrong, "" if it is right, undefined if it is not looked at. */
function wrongMintField(
  scan: FieldScan,
  bytes: Buffer,
  call: CallInFlight,
  accountId: Buffer | undefined,
  amount: Buffer,
): string | undefined {
  switch (scan.field) {
    case 2:
      return accountId && sameBytes(bytes, scan.start, scan.end, accountId) ? "" : "account";
    case 3:
      return scan.value === MINT ? "" : "type";
    case 4:
      return scan.value === COMPLETED ? "" : "status";
    case 6:
      return sameBytes(bytes, scan.start, scan.end, amount) ? "" : "amount";
    case 9:
      return readSerial(bytes, scan.start, scan.end) === call.serial ? "" : "reference";
    default:
      return undefined;
  }
}

/** An account's answer is right when it is active and the one asked for. */
function accountCheck(job: Job): AnswerCheck {
  const accountIds = job.accountIds.map((id) => Buffer.from(id));
  const fields = new FieldScan();
  return (bytes, start, end, call) => {
    if (!enterFirstField(fields, bytes, start, end)) return "an answer without an account";
    const accountId = accountIds[call.account];
    let right = 0;
    while (fields.next()) {
      if (fields.field === 1 && accountId && sameBytes(bytes, fields.start, fields.end, accountId)) right += 1;
      if (fields.field === 5 && fields.value === ACTIVE) right += 1;
    }
    return right === 2 ? undefined : "an answer with the wrong account or status";
  };
}

/**
 * A transaction's answer is right when it is the one asked for, of the account that it belongs to.
 */
function transactionCheck(job: Job): AnswerCheck {
  const accountIds = job.accountIds.map((id) => Buffer.from(id));
  const transactionIds = transactionIdsOf(job).map((id) => Buffer.from(id));
  const fields = new FieldScan();
  return (bytes, start, end, call) => {
    if (!enterFirstField(fields, bytes, start, end)) return "an answer without a transaction";
    const expected = [transactionIds[call.account], accountIds[call.account]];
    let right = 0;
    while (fields.next()) {
      const id = expected[fields.field - 1];
      if (id && sameBytes(bytes, fields.start, fields.end, id)) right += 1;
    }
    return right === 2 ? undefined : "an answer with the wrong transaction or account";
  };
}

function transactionIdsOf({ accountIds, transactionIds = [] }: Job): string[] {
  if (transactionIds.length !== accountIds.length)
    throw new Error("getTransaction needs a transaction of each account");
  return transactionIds;
}

/** Goes into the message that is field 1 of the answer; false when there is none. */
function enterFirstField(fields: FieldScan, bytes: Buffer, start: number, end: number): boolean {
  fields.reset(bytes, start, end);
  if (!fields.next() || fields.field !== 1) return false;
  fields.reset(bytes, fields.start, fields.end);
  return true;
}

const emptyCheck: AnswerCheck = (bytes, start, end) =>
  sameBytes(bytes, start, end, EMPTY_ANSWER) ? undefined : "an answer of the empty handler with other bytes";
