import { toCents } from "../../../src/domain/values/cents.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { by } from "../commands.js";
import { givenAccount, givenHead, railAccount } from "../given.js";
import { ORGANIZATION } from "../names.js";
import type { Proposed } from "./row.js";

// What the examples of proposals decide about.

export const account = givenAccount({ tier: "small" as never });

/** One person may decide nothing alone. */
export const ownRail = railAccount(ORGANIZATION, {
  resolveAloneMaxCents: toCents(0),
  settings: '{"till":"1"}',
  isDefault: true,
});
export const NOTHING_ALONE = { railAccounts: [ownRail] };

export function headWith(given: Parameters<typeof givenHead>[0]): Partial<Loaded> {
  return { books: [givenHead(given)] };
}

/** The command of two persons, of whom the second one does it. */
export function byTwo<C extends Proposed>(command: C): readonly C[] {
  return ["opr_c", "opr_d"].map((person) => ({ ...command, ...by(person) }));
}
