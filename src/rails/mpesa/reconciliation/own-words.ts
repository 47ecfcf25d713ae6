import * as z from "zod";

import type { StatementWords } from "../../statement.js";
import { plain, WORDS } from "./row-kinds.js";

const WORDS_MAX = 50;
const CHARACTERS_MIN = 4;
const CHARACTERS_MAX = 60;
const PROBLEM = `must be a list of at most ${String(WORDS_MAX)} texts of ${String(CHARACTERS_MIN)} to ${String(CHARACTERS_MAX)} characters`;
const BUILT_IN = Object.values(WORDS).flat();

const word = z
  .string(PROBLEM)
  .transform(plain)
  .pipe(z.string().min(CHARACTERS_MIN, PROBLEM).max(CHARACTERS_MAX, PROBLEM))
  // Details begin with a word. "pay" would change what "pay bill" means.
  .refine((own) => !BUILT_IN.some((known) => known === own || known.startsWith(`${own} `)), {
    error: "must not be a word that is built in, nor the beginning of one",
  });

const words = z.array(word, PROBLEM).max(WORDS_MAX, PROBLEM).default([]);

/** Kinds that only the direction of a row tells apart. */
const OF_OTHERS: ReadonlySet<string> = new Set(["pay_in", "payout"]);

/**
 * The setting of an account at M-Pesa that adds words to the built-in ones: what a row's `Reason
 * Type` or `Details` must say to be of a kind.
 */
export const ownWordsSetting = z
  .strictObject(
    { charge: words, own_transfer: words, reversal: words, pay_in: words, payout: words } satisfies Record<
      keyof StatementWords,
      unknown
    >,
    "must have lists of words by their kinds: charge, own_transfer, reversal, pay_in, payout",
  )
  .refine((given) => !hasTwoKinds(given), "must not have one word under two kinds, other than pay_in and payout")
  .optional();

function hasTwoKinds(given: StatementWords): boolean {
  const named = Object.entries(given).flatMap(([kind, own]) =>
    [...new Set(own)].map((each) => [each, OF_OTHERS.has(kind) ? "others" : kind] as const),
  );
  const kindOf = new Map(named);
  return named.some(([each, kind]) => kindOf.get(each) !== kind);
}
