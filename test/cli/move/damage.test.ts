import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

import { expect } from "chai";

import { OperatorError } from "../../../src/startup/operator-error.js";
import { listBooks } from "../../../src/storage/books.js";
import { openDatabase } from "../../../src/storage/database.js";
import { migrate } from "../../../src/storage/migrate.js";
import { verify } from "../../../src/verify/verify.js";
import { GivenMove, rowsOfBook } from "./given-move.js";

/** A file, as its lines with their line feeds. */
type Lines = readonly string[];

const DAMAGES: readonly (readonly [name: string, change: (lines: Lines) => Lines, says: RegExp])[] = [
  ["without its last line", (lines) => lines.slice(0, -1), /no last line that says what it holds/],
  [
    "that was cut inside a line",
    (lines) => [...lines.slice(0, 40), (lines[40] ?? "").slice(0, 9)],
    /last line has no end/,
  ],
  ["with one character changed", (lines) => lines.with(20, (lines[20] ?? "").replace(/\d/, "x")), /SHA-256/],
  ["with a line twice", (lines) => lines.toSpliced(30, 0, lines[30] ?? ""), /SHA-256/],
  ["without one line", (lines) => lines.toSpliced(30, 1), /SHA-256/],
  [
    "with two lines in the other order",
    (lines) => lines.with(30, lines[31] ?? "").with(31, lines[30] ?? ""),
    /SHA-256/,
  ],
  ["of another format", (lines) => lines.with(0, (lines[0] ?? "").replace("kesc-book-1", "kesc-book-9")), /first line/],
  ["that is empty", () => [], /it is empty/],
  ["that is no JSON", () => ["hello\n"], /first line is not that of a kesc-book-1 file/],
];

/** Returns the text of a file whose last line fits the others. */
function sealed(lines: Lines): string {
  const others = lines.slice(0, -1).join("");
  const end = JSON.parse(lines.at(-1) ?? "") as Readonly<Record<string, unknown>>;
  const sha256 = createHash("sha256").update(others).digest("hex");
  return `${others}${JSON.stringify({ ...end, sha256 })}\n`;
}

describe("a file that kesc book import refuses", () => {
  let given: GivenMove;
  let lines: Lines;
  before(async () => {
    given = await GivenMove.make("sqlite to postgres");
    await given.export();
    lines = readFileSync(given.path("book.ndjson"), "utf8").split(/(?<=\n)/);
  });
  after(() => given.dispose());

  /** Nothing of the book is at the new place after the refusal. */
  async function expectRefused(importing: Promise<unknown>, says: RegExp): Promise<void> {
    const error: unknown = await importing.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as OperatorError).message)
      .to.match(says)
      .and.to.match(/Nothing was imported\.$/);
    expect((await listBooks(given.target)).map(({ name }) => name)).to.deep.equal(["stranger"]);
  }

  for (const [name, change, says] of DAMAGES) {
    it(`is one ${name}`, async () => {
      writeFileSync(given.path("damaged.ndjson"), change(lines).join(""));
      await expectRefused(given.import("damaged.ndjson"), says);
    });
  }

  it("is one that does not exist", async () => {
    await expectRefused(given.import("none.ndjson"), /it does not exist/);
  });

  it("is one of another schema", async () => {
    for (const [from, to, says] of [
      ['"0001-first-release"', '"0999-later"', /another schema/],
      [
        '"0001-first-release"',
        '"0001-baseline"',
        /comes from a build before the first release\. The commit [0-9a-f]{8} is/,
      ],
      ['"balance_at",', "", /another schema/],
    ] as const) {
      const header = (lines[0] ?? "").replace(from, to);
      expect(header).not.to.equal(lines[0]);
      writeFileSync(given.path("other.ndjson"), sealed([header, ...lines.slice(1)]));
      await expectRefused(given.import("other.ndjson"), says);
    }
  });

  it("is one whose keys need a master key that the new place lacks", async () => {
    const masterKeyFile = given.path("other.key");
    writeFileSync(masterKeyFile, `${Buffer.alloc(32, "other").toString("base64url")}\n`, { mode: 0o600 });
    const other = await openDatabase({ engine: "sqlite", filename: given.path("other.db"), masterKeyFile });
    try {
      const [to] = other.cells;
      await migrate(to);
      await expectRefused(given.import("book.ndjson", { to }), /need the master key [0-9a-f]{16} of the other place/);
      expect(await listBooks(other)).to.deep.equal([]);
    } finally {
      await other.close();
    }
  });

  it("is one of an organization that the cell has", async () => {
    const error = await given.import("book.ndjson", { to: given.from }).catch(String);
    expect(error).to.match(/This cell has the organization\. Its book is MOVING \(LEAVING\)/);
  });

  it("is not one whose import was interrupted: it goes on after the last portion", async () => {
    const interrupted = await given
      .import("book.ndjson", {
        onRows: (rows) => {
          if (rows > 4_000) throw new Error("the machine failed");
        },
      })
      .catch(String);
    expect(interrupted).to.equal("Error: the machine failed");
    const at = async (): Promise<string | undefined> =>
      (await listBooks(given.target)).find(({ name }) => name === "Duka")?.move?.phase;
    expect(await at()).to.equal("COPYING");
    // Half a book is no book: an audit of the database passes it over.
    expect((await verify(given.target)).firstFindings).to.deep.equal([]);

    const stored: number[] = [];
    await given.import("book.ndjson", { onRows: (rows) => stored.push(rows) });
    expect(stored[0]).to.be.greaterThan(4_003);
    expect(await at()).to.equal("COPIED");
    await given.import("book.ndjson", { onRows: () => expect.fail("stored again") });
    const before = await rowsOfBook(given.from, given.organizationId);
    expect(await rowsOfBook(given.to, given.organizationId)).to.deep.equal(before);
  }).timeout(60_000);
});
