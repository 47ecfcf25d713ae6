import type { Each } from "../row.js";
import type { WrittenParameter } from "./written.js";

/** The parameter of a list about one organization, if it is named, and otherwise about all. */
export const ANY_ORGANIZATION = {
  of: "--org?",
  help: "id or name of the organization (default: all of them)",
} as const satisfies WrittenParameter;

export const EACH_ORGANIZATION = {
  rpc: "ListOrganizations",
  items: "organizations",
  request: ({ id, name }) => ({
    fields: { organization_id: id },
    beside: { organization_id: id, organization_name: name },
  }),
} as const satisfies Each;
