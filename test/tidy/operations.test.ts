import { existsSync, readdirSync, readFileSync } from "node:fs";

import { expect } from "chai";

import { JOURNAL_KINDS } from "../../src/domain/journal.js";
import { COMMAND_NAMES, operationOf } from "../../src/domain/operations/table.js";
import { readContract } from "../../src/grpc/messages/contract.js";

// The places that an operation needs, as far as no compiler and no other test asks for them.
// CONTRIBUTING.md has the whole list.

const FOLDER = "src/domain/operations";
const files = readdirSync(FOLDER).filter((file) => file !== "table.ts");

/** The rules that operations share. Who imports them refuses for their reasons, too. */
const SHARED = "movement.ts";

// The commands that only the settlement or the operator gives, so no rpc does.
const WITHOUT_RPC: readonly string[] = [
  "beginPayment",
  "acceptPayment",
  "postponePayment",
  "completePayment",
  "failPayment",
  "flagTransaction",
  "eraseAccount",
  "setAccountTier",
  "setLimits",
  "attendTransaction",
  "resolveTransaction",
  "coverShortfall",
  "recoverShortfall",
  "allocate",
  "returnUnallocated",
  "bookReceipt",
];

/** The commands that the operation in this file decides. */
async function commandsOf(file: string): Promise<string[]> {
  const exported: unknown[] = Object.values((await import(`../../${FOLDER}/${file.replace(/ts$/, "js")}`)) as object);
  return COMMAND_NAMES.filter((name) => exported.includes(operationOf(name)));
}

/** The reasons that the comment of each rpc names after "Refuses", by the name of its command. */
function refusalsInContract(): Map<string, string[]> {
  const texts = readdirSync("proto/kesc/v1").map((file) => readFileSync(`proto/kesc/v1/${file}`, "utf8"));
  const rpcs = texts.flatMap((text) => [...text.matchAll(/((?: *\/\/.*\n)+) *rpc (\w)(\w*)\(/g)]);
  return new Map(
    rpcs.map(([, comment = "", first = "", rest = ""]) => {
      const [, refuses = ""] = /Refuses([^]*)/.exec(comment) ?? [];
      return [first.toLowerCase() + rest, reasonsIn(refuses)];
    }),
  );
}

/** Each reason that a text names, once. */
function reasonsIn(text = ""): string[] {
  return [...new Set([...text.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([reason]) => reason))];
}

/** The part of proto/released.json that names the rpcs. */
interface Released {
  readonly file: readonly { readonly service?: readonly { readonly method: readonly { readonly name: string }[] }[] }[];
}

describe("each operation", () => {
  const refusals = refusalsInContract();

  for (const file of files) {
    it(`${file} is in the table, and has a test of its own`, async () => {
      expect(await commandsOf(file), "its commands in table.ts").not.to.deep.equal([]);
      const test = `test/domain/operations/${file.replace(/ts$/, "test.ts")}`;
      expect(existsSync(test), test).to.equal(true);
    });

    it(`${file} refuses for the reasons that its comment and the contract name, and for no other`, async () => {
      const code = readFileSync(`${FOLDER}/${file}`, "utf8");
      const isSharing = code.includes(`"../${SHARED.replace(/ts$/, "js")}"`);
      const rules = isSharing ? code + readFileSync(`src/domain/${SHARED}`, "utf8") : code;
      const given = [...new Set([...rules.matchAll(/reason: "([A-Z_]+)"/g)].map(([, reason]) => reason))];
      expect(reasonsIn(/Refuses([^]*?)\*\//.exec(code)?.[1]), "the reasons after Refuses").to.have.members(given);
      const commands = await commandsOf(file);
      if (commands.every((command) => WITHOUT_RPC.includes(command))) return;
      const documented = commands.flatMap((command) => refusals.get(command) ?? []);
      expect([...new Set(documented)], "the reasons after Refuses in proto/").to.have.members(given);
    });
  }

  it("has its kinds of journal rows in docs/ledger.md", () => {
    const text = readFileSync("docs/ledger.md", "utf8");
    const missing = JOURNAL_KINDS.filter((kind) => !text.includes(`\`${kind}\``));
    expect(missing, "kinds that docs/ledger.md lacks").to.deep.equal([]);
  });

  it("has its kinds of journal rows among the types of docs/events.md, and no other is there", () => {
    const rows = readFileSync("docs/events.md", "utf8").matchAll(/^\| `([a-z_]+\.[a-z_]+)` /gm);
    expect(Array.from(rows, ([, type]) => type)).to.deep.equal(JOURNAL_KINDS);
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
