import { parseAccountId } from "../../../domain/values/ids.js";
import type { Parsed } from "../../../domain/values/parsed.js";
import { UsageError } from "../../../startup/operator-error.js";
import { statusReason } from "../../commands/arguments.js";
import { type CommandParameter, type Each, type MessageJson, textOf } from "../row.js";

export { argument } from "../../commands/arguments.js";

export const ORGANIZATION = {
  flags: "<organization>",
  help: "id or name of the organization",
  field: "organization_id",
  refersTo: "organization",
} as const satisfies CommandParameter;

export const OWNER = {
  ...ORGANIZATION,
  flags: "--org <organization>",
  required: true,
} as const satisfies CommandParameter;

/** Parameters of a list that is about one organization, if it is named, and otherwise about all. */
export const ANY_OWNER = {
  ...ORGANIZATION,
  flags: "--org <organization>",
  help: "id or name of the organization (default: all of them)",
} as const satisfies CommandParameter;

export const EACH_ORGANIZATION = {
  rpc: "ListOrganizations",
  items: "organizations",
  request: ({ id, name }) => ({
    fields: { organization_id: id },
    beside: { organization_id: id, organization_name: name },
  }),
} as const satisfies Each;

export const ACCOUNT = {
  flags: "<account-id>",
  help: 'id of the account ("acc_…")',
  field: "account_id",
  parse: idArgument("account", parseAccountId, "To list the accounts: kesc account list"),
} as const satisfies CommandParameter;

export const NOTE = {
  flags: "--note <text>",
  help: "words for the book, without personal data",
  field: "note",
  required: true,
  parse: statusReason,
} as const satisfies CommandParameter;

/** Makes a parser of an id. The message does not repeat the argument, which may be a secret. */
export function idArgument(
  what: string,
  parse: (text: string) => Parsed<string>,
  advice: string,
): (text: string) => string {
  return (text) => {
    const id = parse(text);
    if (!id.ok) throw new UsageError(`The id of the ${what} ${id.problem}. ${advice}`);
    return id.value;
  };
}

/** Says who did an act: the names of operators, or the author as the book has it. */
export function byWords({ actor, operator_names: names }: MessageJson): string {
  const [proposer, approver] = names as readonly string[];
  if (proposer === undefined) return textOf(actor);
  return approver === undefined ? proposer : `${proposer}, approved by ${approver}`;
}
