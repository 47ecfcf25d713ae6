import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

// Each program, with the leaf that all of them share. The library for callers and the generator of
// the build are programs of their own.
const PROGRAMS = [
  ["src", "contract", "runtime"],
  ["client"],
  ["client/generate"],
  ["gateway", "contract", "runtime"],
  ["daraja", "runtime"],
];
const NOT_OF_ROOM: Readonly<Record<string, RegExp>> = { src: /^src\/gen\//, client: /^client\/(?:gen|generate)\// };
const DECLARED = /^(?:export )?(?:abstract )?(?:interface|type|class|enum) ([A-Z]\w*)/gm;

/** Returns the files that declare each type name of a program, exported or not. */
function declarationsOf(rooms: readonly string[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const room of rooms) {
    for (const name of readdirSync(room, { recursive: true, encoding: "utf8" })) {
      const file = join(room, name);
      if (!file.endsWith(".ts") || NOT_OF_ROOM[room]?.test(file) === true) continue;
      for (const [, declared = ""] of readFileSync(file, "utf8").matchAll(DECLARED)) {
        files.set(declared, [...(files.get(declared) ?? []), file]);
      }
    }
  }
  return files;
}

describe("the type names", () => {
  for (const rooms of PROGRAMS) {
    it(`have one shape each in ${rooms.join(" and ")}`, () => {
      const declarations = declarationsOf(rooms);
      expect([...declarations]).to.have.length.above(0);
      const twice = [...declarations].filter(([, files]) => files.length > 1);
      expect(twice.map(([name, files]) => `${name}: ${files.join(", ")}`)).to.deep.equal([]);
    });
  }
});
