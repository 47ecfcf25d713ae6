import type { Proposal } from "../upstream/messages.js";
import { decimalOf, moneyText, words } from "../view/values.js";
import type { Act } from "./acts.js";

/** One field of what is proposed. */
export interface ProposedField {
  /** As the contract names it: "account_id". */
  readonly field: string;
  readonly name: string;
  readonly value: string;
}

/** Fields that a page says elsewhere, and the version of the content. */
const SAID: ReadonlySet<string> = new Set(["kind", "name", "organizationId", "format"]);
// The fields that the sentence about a proposal names, in this order.
const NAMED = ["name", "amountCents", "outcome", "tier", "roles", "rail", "place"];

const RESOLUTION = ["outcome", "receipt", "amountCents"];

const OPERATOR_ACTS: Readonly<Record<string, string>> = {
  "operator.create": "Make an operator",
  "operator.set_roles": "Set the roles of an operator",
  "operator.replace_key": "Replace the key of an operator",
  "operator.add_passkey": "Add a passkey to an operator",
};

/** Returns what a proposal does, such as "Resolve transaction: 2,500.00, completed". */
export function effectOf(proposal: Proposal): string {
  const all = allFields(proposal);
  const facts = NAMED.flatMap((name) =>
    all.filter((field) => field.key === name && field.value !== proposal.type).map(({ value }) => value),
  );
  const act = OPERATOR_ACTS[proposal.type] ?? sentenceCase(proposal.type);
  return facts.length === 0 ? act : `${act}: ${facts.join(", ")}`;
}

/** Returns each field, in the order in which the proposal has them. */
export function fieldsOf(proposal: Proposal): readonly ProposedField[] {
  return allFields(proposal)
    .filter(({ key, value }) => !SAID.has(key) || (key === "name" && value !== proposal.type))
    .map(({ field, name, value }) => ({ field, name, value }));
}

/** Returns the act of the console that the proposal is for, if there is one. */
export function actOfProposal<A extends Act>(acts: Iterable<A>, proposal: Proposal): A | undefined {
  const { outcome = "" } = givenIn(proposal);
  return [...acts].find(
    ({ rpc, member }) =>
      rpc.toLowerCase() === `adminservice/${proposal.type.toLowerCase()}` &&
      (member === undefined || member === outcome.toLowerCase()),
  );
}

/** Returns what the form of the act would have given: its fields as the contract names them. */
export function givenIn(proposal: Proposal): Readonly<Record<string, string>> {
  const { subject_id: id } = proposal;
  const subject = SUBJECT_FIELDS[(id ?? "").slice(0, 3)];
  return {
    ...Object.fromEntries(allFields(proposal).map(({ field, value }) => [field, value])),
    ...(subject === undefined || id === null ? {} : { [subject]: id }),
  };
}

const SUBJECT_FIELDS: Readonly<Record<string, string>> = {
  acc: "account_id",
  txn: "transaction_id",
  dep: "deposit_id",
  opr: "operator_id",
};

interface KeyedField extends ProposedField {
  readonly key: string;
}

function allFields({ content }: Proposal): readonly KeyedField[] {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch {
    return [{ key: "", field: "", name: "content", value: content }];
  }
  if (typeof json !== "object" || json === null) return [{ key: "", field: "", name: "content", value: content }];
  // A resolution is a list.
  const named = Array.isArray(json)
    ? json.map((value: unknown, index) => [RESOLUTION[index] ?? "", value] as const)
    : Object.entries(json);
  return named.map(([key, value]: readonly [string, unknown]) => ({
    key,
    field: key.replace(/Cents$/, "").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name: sentenceCase(key.replace(/Cents$/, "")),
    value: valueText(key, value),
  }));
}

function valueText(key: string, value: unknown): string {
  if (
    key.endsWith("Cents") &&
    (typeof value === "number" || typeof value === "string") &&
    /^-?[0-9]+$/.test(String(value))
  )
    return moneyText(decimalOf(BigInt(value)));
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(", ");
  if (typeof value !== "string") return JSON.stringify(value);
  // A name of the contract: "customer_request".
  return /^[a-z]+(_[a-z]+)+$/.test(value) ? words(value) : value;
}

/** Returns "Set account tier" for "setAccountTier". */
function sentenceCase(name: string): string {
  const spaced = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]/g, " ")
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
