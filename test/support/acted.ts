import type { StoredApiKey } from "../../src/domain/api-key.js";
import type { Acted } from "../../src/domain/authority.js";
import type { ApprovedBankFile } from "../../src/domain/bank-file.js";
import type { BookHead } from "../../src/domain/book.js";
import type { Deposit } from "../../src/domain/deposit.js";
import type { ReceivedShillings } from "../../src/domain/deposits/receive-deposit.js";
import type { RecordedDeposits } from "../../src/domain/deposits/record-deposits.js";
import type { Resource } from "../../src/domain/operations.js";
import type { ResolvedTransactions } from "../../src/domain/orders/resolve-transactions.js";
import type { Proposal } from "../../src/domain/proposal.js";
import type { RailAccountRecord } from "../../src/domain/rail-account.js";
import type { Transaction } from "../../src/domain/transaction.js";
import type { EndpointRecord } from "../../src/domain/webhook-endpoint.js";

/** The resource itself, without the wrapper in which some commands return it. */
export type PlainResource =
  | Exclude<
      Resource,
      Acted<unknown> | Proposal | ReceivedShillings | RailAccountRecord | EndpointRecord | ApprovedBankFile
    >
  | BookHead
  | StoredApiKey
  | Deposit;

/** Whether a command waits for a second person in place of what it makes. */
export function isProposal(resource: object): boolean {
  return "proposal" in resource && !("id" in resource);
}

/**
 * Returns what a command has made or changed: of shillings that came in, the deposit, or else the
 * transaction. Throws if the command waits for a second person, or has made nothing.
 */
export function plain(resource: Resource): PlainResource {
  const inner = innerOf(resource);
  const isMade = inner !== undefined && ("sums" in inner || ("id" in inner && !("content" in inner)));
  if (!isMade || "revision" in inner || "sha256" in inner || "noAnswer" in inner)
    throw new Error("nothing was done, or nothing that a model knows");
  return inner;
}

/** Operators' commands, and those of shillings that came in, return more than one thing. */
function innerOf(resource: Resource) {
  if ("resource" in resource) return firstOf(resource.resource);
  if ("deposit" in resource) return resource.deposit ?? resource.transaction;
  return resource;
}

/** Of an act of several parts, what the first one has made. */
function firstOf<Of extends object>(
  resource: Of | RecordedDeposits | ResolvedTransactions | undefined,
): Exclude<Of, RecordedDeposits | ResolvedTransactions> | Deposit | Transaction | undefined {
  if (resource === undefined) return undefined;
  if ("recorded" in resource) return resource.recorded[0]?.deposit;
  if ("resolved" in resource) return resource.resolved[0]?.transaction;
  return resource as Exclude<Of, RecordedDeposits | ResolvedTransactions>;
}
