import type { Proposal } from "../gen/messages.js";

/** A value that an act changes, as pages show it. */
export type Change = readonly [name: string, before: string, after: string];

const OPERATOR_ACTS: Readonly<Record<string, string>> = {
  "operator.create": "Make an operator",
  "operator.set_roles": "Set the roles of an operator",
  "operator.replace_key": "Replace the key of an operator",
  "operator.add_passkey": "Add a passkey to an operator",
};
// More would not fit into a list.
const NAMED_MAX = 2;

/** Returns what a proposal does, such as "Set payouts: payouts closed → open". */
export function effectOf({ type, changes }: Proposal): string {
  const act = OPERATOR_ACTS[type] ?? sentenceCase(type);
  const changed = changes.filter(({ before, after }) => before !== after);
  const facts = changed.slice(0, NAMED_MAX).map(({ what, before, after }) => {
    return before === "" ? `${what} ${after}` : `${what} ${before} → ${after === "" ? "none" : after}`;
  });
  return facts.length === 0 ? act : `${act}: ${facts.join(", ")}`;
}

/** Returns what a proposal changes, from what stood when it was made. */
export function changesIn({ changes }: Proposal): readonly Change[] {
  return changes.map(({ what, before, after }) => [what, before, after]);
}

/** Returns "Set account tier" for "setAccountTier". */
function sentenceCase(name: string): string {
  const spaced = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]/g, " ")
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
