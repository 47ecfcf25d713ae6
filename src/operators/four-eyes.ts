import { FOUR_EYES_GROUPS, type FourEyesGroup } from "../domain/authority.js";

/** The groups whose acts need a second person. */
export type FourEyes = ReadonlySet<FourEyesGroup>;

export const ALL_GROUPS: FourEyes = new Set(FOUR_EYES_GROUPS);

/**
 * Parses a policy: "none", or groups with commas between them. Returns undefined if it is neither.
 */
export function parseFourEyes(text: string): FourEyes | undefined {
  if (text === "none") return new Set();
  const groups = text.split(",").map((word) => FOUR_EYES_GROUPS.find((group) => group === word.trim()));
  return groups.every((group) => group !== undefined) ? new Set(groups) : undefined;
}
