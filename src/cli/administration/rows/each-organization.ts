import { textOf } from "../../commands/output.js";
import type { Each, MessageJson } from "../row.js";
import type { WrittenParameter } from "./written.js";

/** What a list says of an organization whose row somebody has changed past the service. */
export function changedWord({ changed }: MessageJson): readonly string[] {
  return changed === true ? ["changed in the database"] : [];
}

/** The parameter of a list about one organization, if it is named, and otherwise about all. */
export const ANY_ORGANIZATION = {
  of: "--org?",
  help: "id or name of the organization (default: all of them)",
} as const satisfies WrittenParameter;

export const EACH_ORGANIZATION = {
  rpc: "ListOrganizations",
  items: "organizations",
  // Each call about it would be refused, and the list would end.
  leavesOut: ({ id, changed }) =>
    changed === true ? `${textOf(id)} is left out: its row was changed in the database, past the service.` : undefined,
  request: ({ id, name }) => ({
    fields: { organization_id: id },
    beside: { organization_id: id, organization_name: name },
  }),
} as const satisfies Each;
