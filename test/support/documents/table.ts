import { readFileSync } from "node:fs";

/** The cells of the first table under a heading of a document, without its two head rows. */
export function tableUnder(heading: string, document: string): readonly (readonly string[])[] {
  const lines = readFileSync(document, "utf8").split("\n");
  const under = lines.slice(lines.indexOf(heading) + 1);
  const first = under.findIndex((line) => line.startsWith("|"));
  const after = under.findIndex((line, index) => index > first && !line.startsWith("|"));
  return under.slice(first + 2, after).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
