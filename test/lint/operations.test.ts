import { existsSync, globSync, readFileSync } from "node:fs";

import { expect } from "chai";

import { JOURNAL_KINDS } from "../../src/domain/journal.js";
import { COMMAND_NAMES, operationOf } from "../../src/domain/operations.js";
import { PERSON_OPERATIONS } from "../../src/domain/people/operations.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import { namesUnder } from "../support/documents/sections.js";

// The places that an operation needs, as far as no compiler and no other test asks for them.
// CONTRIBUTING.md has the whole list.

const FOLDER = "src/domain";
const IN_TABLE: readonly unknown[] = [...new Set(COMMAND_NAMES.map(operationOf)), ...Object.values(PERSON_OPERATIONS)];

/** The operations that a file exports. */
async function operationsOf(file: string): Promise<unknown[]> {
  const exported: unknown[] = Object.values((await import(`../../${FOLDER}/${file.replace(/ts$/, "js")}`)) as object);
  return exported.filter((value) => typeof value === "object" && value !== null && "decide" in value);
}

/** The part of proto/released.json that names the rpcs. */
interface Released {
  readonly file: readonly { readonly service?: readonly { readonly method: readonly { readonly name: string }[] }[] }[];
}

describe("each operation", () => {
  it("is in the table, and has a test that is named as its file", async () => {
    const found = new Set<unknown>();
    for (const file of globSync("*/*.ts", { cwd: FOLDER })) {
      const operations = await operationsOf(file);
      for (const operation of operations) found.add(operation);
      if (operations.length === 0) continue;
      const test = `test/domain/${file.replace(/ts$/, "test.ts")}`;
      expect(existsSync(test), test).to.equal(true);
    }
    expect([...found]).to.have.members(IN_TABLE);
  });

  it("has its kinds of journal rows in docs/ledger.md", () => {
    const text = readFileSync("docs/ledger.md", "utf8");
    const missing = JOURNAL_KINDS.filter((kind) => !text.includes(`\`${kind}\``));
    expect(missing, "kinds that docs/ledger.md lacks").to.deep.equal([]);
  });

  it("has its kinds of journal rows among the types of docs/events.md, and no other is there", () => {
    expect(namesUnder("## Types", "docs/events.md")).to.deep.equal(JOURNAL_KINDS);
  });

  it("is named in CHANGELOG.md when its rpc is not released yet", () => {
    const { file } = JSON.parse(readFileSync("proto/released.json", "utf8")) as Released;
    const services = file.flatMap(({ service }) => service ?? []);
    const released = new Set(services.flatMap(({ method }) => method.map(({ name }) => name)));
    const rpcs = readContract().services.flatMap((service) => service.rpcs);
    const unreleased = rpcs.map(({ name }) => name.replace(/^.*\//, "")).filter((name) => !released.has(name));
    const text = readFileSync("CHANGELOG.md", "utf8");
    const missing = unreleased.filter((name) => !text.includes(name));
    expect(missing, "rpcs that CHANGELOG.md lacks").to.deep.equal([]);
  });
});
