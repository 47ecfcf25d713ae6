import { readFileSync } from "node:fs";

/**
 * Returns the forgeries of docs/ledger.md with what finds each: the items of the lists after a
 * sentence that begins as given, such as "Found by nothing:".
 */
export function forgeriesIn(
  begin: "Found by" | "Then found by",
): readonly (readonly [name: string, foundBy: string])[] {
  const text = readFileSync("docs/ledger.md", "utf8");
  const lists = text.matchAll(new RegExp(`(?:^|\\. )${begin} (.+):\\n\\n((?:- .+\\n)+)`, "gm"));
  return [...lists].flatMap(([, foundBy = "", items = ""]) =>
    [...items.matchAll(/^- (.+)$/gm)].map(([, name = ""]) => [name, foundBy] as const),
  );
}
