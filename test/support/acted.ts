import type { StoredApiKey } from "../../src/domain/api-key.js";
import type { BookHead } from "../../src/domain/book.js";
import type { Resource } from "../../src/domain/commands.js";
import type { Proposal } from "../../src/domain/proposal.js";
import type { Acted } from "../../src/domain/second-person.js";

/** A resource without what stands around that of an operator's command. */
export type PlainResource = Exclude<Resource, Acted<unknown> | Proposal> | BookHead | StoredApiKey;

/** Whether a command waits for a second person in place of what it makes. */
export function isProposal(resource: object): boolean {
  return "proposal" in resource && !("id" in resource);
}

/** Returns what a command has made or changed. Throws if it waits for a second person. */
export function plain(resource: Resource): PlainResource {
  const inner = "resource" in resource ? resource.resource : resource;
  const isMade = inner !== undefined && ("sums" in inner || ("id" in inner && !("content" in inner)));
  if (!isMade || "revision" in inner) throw new Error("nothing was done, or nothing that a model knows");
  return inner;
}
