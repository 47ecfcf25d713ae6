import { join } from "node:path";

import { expect } from "chai";

import { ProgressLine } from "../../src/cli/terminal.js";
import { NO_TERMINAL, printedInTerminal } from "../support/callers/terminal.js";
import { eventually } from "../support/eventually.js";
import { KESC, kesc, kescJson, Place } from "../support/service/kesc.js";

const CLEARED = "\r\u001B[K";

describe("a progress line", () => {
  let written: string[];
  const streamOf = (isTTY: boolean, columns = 80): NodeJS.WriteStream =>
    ({ isTTY, columns, write: (text: string) => written.push(text) }) as unknown as NodeJS.WriteStream;
  beforeEach(() => {
    written = [];
  });

  it("shows a bar, the counts and the speed, and shows the end", () => {
    const line = new ProgressLine(streamOf(true));
    line.show(5_000, 20_000, " rows");
    line.show(20_000, 20_000, " rows");
    line.clear();
    expect(written).to.have.length(3);
    expect(written[0]).to.match(/^\r\u001B\[K█{5}░{15} 5,000 of 20,000 rows, [0-9,]+ a second$/);
    expect(written[1]).to.match(/█{20} 20,000 of 20,000 rows/);
    expect(written[2]).to.equal(CLEARED);
  });

  it("survives a total that is too small, or nothing", () => {
    const line = new ProgressLine(streamOf(true));
    line.show(30, 20, "");
    line.show(1, 0, "");
    expect(written[0]).to.include("█".repeat(20));
    expect(written[1]).to.include("1 of 0");
  });

  it("fits into the terminal", () => {
    new ProgressLine(streamOf(true, 10)).say("0123456789");
    // A terminal that does not know its width says 0.
    new ProgressLine(streamOf(true, 0)).say("x".repeat(100));
    expect(written).to.deep.equal([`${CLEARED}012345678`, `${CLEARED}${"x".repeat(79)}`]);
  });

  it("is written so often outside a terminal as its command says, until it is cleared", async () => {
    const line = new ProgressLine(streamOf(false), { writesEveryMillis: 5 });
    line.show(1, 2, " rows");
    await eventually(() => written.length > 1);
    line.clear();
    const { length } = written;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(written).to.have.lengthOf(length);
    expect(written[0]).to.match(/^1 of 2 rows, [0-9,]+ a second\n$/);
  });

  it("is not drawn outside a terminal, or if nobody wants it", () => {
    for (const line of [new ProgressLine(streamOf(false)), new ProgressLine(streamOf(true), { isWanted: false })]) {
      line.say("words");
      line.show(1, 2, "");
      line.clear();
    }
    expect(written).to.deep.equal([]);
  });
});

const TITLE = "kesc in a terminal";

(NO_TERMINAL === undefined ? describe : describe.skip)(
  NO_TERMINAL === undefined ? TITLE : `${TITLE}: ${NO_TERMINAL}`,
  () => {
    let place: Place;
    let organization = "";
    const inTerminal = (args: readonly string[], variables: Record<string, string> = {}): Promise<string> =>
      printedInTerminal([process.execPath, KESC, ...args], { ...place.variables, ...variables });

    before(async () => {
      place = await Place.migrated();
      organization = (await kescJson<{ id: string }>(["org", "create", "--name", "acme"], place.variables)).id;
      await kesc(["org", "suspend", organization, "--note", "test", "--yes"], place.variables);
    });
    after(() => {
      place.remove();
    });

    for (const [name, args] of [
      ["verify", ["verify", "--full-speed"]],
      ["backup", ["backup", "copy.db"]],
    ] as const) {
      it(`shows how far ${name} is, and clears the line; --json and a pipe have none`, async () => {
        const own = (file: string): string[] => args.map((arg) => (arg === "copy.db" ? join(place.folder, file) : arg));
        const printed = await inTerminal(own("a.db"));
        expect(printed).to.match(/\r\u001B\[K[█░]{20} \d+ of \d+ (journal )?rows/);
        expect(printed.slice(printed.lastIndexOf(CLEARED))).to.include("correct");
        expect(await inTerminal([...own("b.db"), "--json"])).to.match(/^\{.*\}\r\n$/);
        expect(await kesc(own("c.db"), place.variables)).to.include({ code: 0, stderr: "" });
      });
    }

    it("shows lists in colours, and none with NO_COLOR", async () => {
      const printed = await inTerminal(["org", "list"]);
      expect(printed).to.match(/^\u001B\[2mID +\u001B\[22m {2}/);
      expect(printed).to.match(/\u001B\[33mlive, suspended\u001B\[39m/);
      const { stdout } = await kesc(["org", "list"], place.variables);
      expect(stdout).to.match(/^ID +STATE +CREATED +NAME\n/);
      expect((await inTerminal(["org", "list"], { NO_COLOR: "1" })).replaceAll("\r", "")).to.equal(stdout);
    });
  },
);
