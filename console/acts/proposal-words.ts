import type { Proposal } from "../gen/messages.js";
import { dayOf, moneyText, timeText, words } from "../view/values.js";

/** A value that an act changes, as pages show it. */
export type Change = readonly [name: string, before: string, after: string];

const OPERATOR_ACTS: Readonly<Record<string, string>> = {
  createOperator: "Make an operator",
  setOperatorRoles: "Set the roles of an operator",
  replaceOperatorKey: "Replace the key of an operator",
  addPasskey: "Add a passkey to an operator",
};
// More would not fit into a list.
const NAMED_MAX = 2;
/** The name of the change that holds the words of the person who asks. */
export const REASON = "reason";

/** Returns what a proposal does, such as "Set payouts: payouts closed → open". */
export function effectOf({ type, changes }: Proposal): string {
  const act = OPERATOR_ACTS[type] ?? sentenceCase(type);
  const changed = changes.filter(({ what, before, after }) => before !== after && what !== REASON);
  const facts = changed.slice(0, NAMED_MAX).map(({ what, before, after }) => {
    const then = after === "" ? "none" : plainText(after);
    return before === "" ? `${words(what)} ${then}` : `${words(what)} ${plainText(before)} → ${then}`;
  });
  return facts.length === 0 ? act : `${act}: ${facts.join(", ")}`;
}

/** Returns what a proposal changes, from what stood when it was made. */
export function changesIn({ changes }: Pick<Proposal, "changes">): readonly Change[] {
  return changes.map(({ what, before, after }) => [what, before, after]);
}

/** Returns a text of a change as people read it: amounts with commas, times of Nairobi, no JSON. */
export function plainText(text: string, name = ""): string {
  // A short code is no amount.
  const isAmount = /amount/i.test(name) ? /^[0-9,]+(\.[0-9]{1,2})?$/ : /^[0-9,]+\.[0-9]{2}$/;
  if (isAmount.test(text)) return moneyText(text.replaceAll(",", ""));
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text)) return timeText(new Date(text));
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return dayOf(text);
  // Only a name of the contract has no capitals, no spaces and no dots.
  if (/^[a-z_]+$/.test(text)) return words(text);
  return /^[[{]/.test(text) ? fromJson(text) : text;
}

/** A setting of a rail may be a list or an object. */
function fromJson(text: string): string {
  try {
    return listed(JSON.parse(text));
  } catch {
    return text;
  }
}

function listed(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.map(listed).join(", ");
  return Object.entries(value)
    .map(([name, each]) => `${words(name)} ${listed(each)}`)
    .join(", ");
}

/** Returns "Set account tier" for "setAccountTier". */
function sentenceCase(name: string): string {
  const spaced = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]/g, " ")
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
