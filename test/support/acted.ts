import type { StoredApiKey } from "../../src/domain/api-key.js";
import type { Resource } from "../../src/domain/commands.js";
import type { Proposal } from "../../src/domain/proposal.js";
import type { Acted } from "../../src/domain/second-person.js";

/** A resource without what stands around that of an operator's command. */
export type PlainResource = Exclude<Resource, Acted<unknown> | Proposal> | StoredApiKey;

/** Returns what a command has made or changed. Throws if it waits for a second person. */
export function plain(resource: Resource): PlainResource {
  const inner = "resource" in resource ? resource.resource : resource;
  if (inner === undefined || "proposal" in inner || "content" in inner) throw new Error("nothing was done");
  return inner;
}
