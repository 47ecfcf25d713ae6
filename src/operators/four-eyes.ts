import { BOOK_GROUPS } from "../domain/authority.js";

/**
 * The groups of acts that can need a second person: those of books, and `operators`: a new
 * operator, other roles, another key, one more passkey. An admin who did that alone could invent a
 * second person, and approve own proposals as that one.
 */
export const FOUR_EYES_GROUPS = ["operators", ...BOOK_GROUPS] as const;

export type FourEyesGroup = (typeof FOUR_EYES_GROUPS)[number];

/** The groups whose acts need a second person. */
export type FourEyes = ReadonlySet<FourEyesGroup>;

/**
 * Parses a policy: "none", or groups with commas between them. Returns undefined if it is neither.
 */
export function parseFourEyes(text: string): FourEyes | undefined {
  if (text === "none") return new Set();
  const groups = text.split(",").map((word) => FOUR_EYES_GROUPS.find((group) => group === word.trim()));
  return groups.every((group) => group !== undefined) ? new Set(groups) : undefined;
}
