import { readFileSync } from "node:fs";

import { expect } from "chai";

import { TABLES_BY_NAME } from "../../src/model/tables.js";

describe("what the database alone gives", () => {
  const [, section = ""] =
    /\n## What the database alone gives\n([^]*?)\n## /.exec(readFileSync("docs/security.md", "utf8")) ?? [];
  const kinds = ["Bound", "Derived", "Neither"].map(
    (kind) => new RegExp(`^- \\*\\*${kind}\\.\\*\\* ([^]*?)\\n(?=- |\\n)`, "m").exec(section)?.[1] ?? "",
  );

  for (const [name, { bound }] of TABLES_BY_NAME) {
    it(`is said of ${name}, once`, () => {
      const said = kinds.map((text) => text.split(`\`${name}\``).length - 1);
      const sum = said.reduce((left, right) => left + right, 0);
      expect(sum).to.equal(1);
      if (bound !== undefined) expect(said[0]).to.equal(1);
    });
  }
});
