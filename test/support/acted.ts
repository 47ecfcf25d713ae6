import type { NumberedAccount } from "../../src/domain/accounts/number-account.js";
import type { StoredApiKey } from "../../src/domain/api-key.js";
import type { BookHead } from "../../src/domain/book.js";
import type { Deposit } from "../../src/domain/deposit.js";
import type { ReceivedShillings } from "../../src/domain/deposits/receive-deposit.js";
import type { Resource } from "../../src/domain/operations.js";
import type { Proposal } from "../../src/domain/proposal.js";
import type { RailAccountRecord } from "../../src/domain/rail-account.js";
import type { Acted } from "../../src/domain/second-person.js";

/** The resource itself, without the wrapper in which some commands return it. */
export type PlainResource =
  | Exclude<Resource, Acted<unknown> | Proposal | ReceivedShillings | NumberedAccount | RailAccountRecord>
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
  if (!isMade || "revision" in inner) throw new Error("nothing was done, or nothing that a model knows");
  return inner;
}

/** Operators' commands, and those of shillings that came in, return more than one thing. */
function innerOf(resource: Resource) {
  if ("resource" in resource) return resource.resource;
  if ("deposit" in resource) return resource.deposit ?? resource.transaction;
  return "account" in resource ? undefined : resource;
}
