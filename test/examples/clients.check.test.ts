import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

import { expect } from "chai";

import { PEER_EXAMPLES, PEERS_PRINT } from "../peers/examples.js";
import { Service } from "../support/service/service.js";

const FOLDER = "examples/clients";
/** The lines that each client prints. An account has another id each time. */
const PRINTED = [
  "account acc_…",
  "minted 1000.00",
  "redeemed 250.00",
  "repeated: the same transaction",
  "refused: INSUFFICIENT_FUNDS 750.00",
  "events: account.created transaction.completed transaction.completed",
];

interface Program {
  readonly command: string;
  readonly file: string;
  /** What runs, if it is not the file itself. */
  readonly compiled?: string;
  /** What it prints besides. */
  readonly more?: readonly string[];
  /** Fails on a machine that cannot run the program. */
  readonly needs: readonly [command: string, ...args: string[]];
}

const PROGRAMS: readonly Program[] = [
  { command: process.execPath, file: "client.mjs", needs: [process.execPath, "--version"] },
  { command: process.execPath, file: "proto-loader.mjs", needs: [process.execPath, "--version"] },
  // Debian's own Python has Debian's packages.
  {
    command: "/usr/bin/python3",
    file: "client.py",
    needs: ["/usr/bin/python3", "-c", "import grpc, google.protobuf"],
  },
  { command: "sh", file: "curl.sh", needs: ["sh", "-c", "curl --version && jq --version"] },
  // Makes the types from openapi.json, and checks the program against them.
  {
    command: process.execPath,
    file: "rest.ts",
    compiled: "dist/examples/clients/rest.js",
    more: ["webhook: webhook.test"],
    needs: [process.execPath, "--version"],
  },
];

describe("examples/clients", () => {
  let service: Service;
  before(async () => {
    service = await Service.start("sqlite", { KESC_WEBHOOKS_ALLOW: "127.0.0.1" });
  });
  after(() => service.dispose());

  it("names its programs on its page", () => {
    const page = readFileSync(`${FOLDER}/README.md`, "utf8");
    const files = [...PROGRAMS, ...PEER_EXAMPLES].map(({ file }) => file);
    for (const file of files) expect(page).to.include(`examples/clients/${file}`);
  });

  for (const { language, file, printed } of [
    { language: "python", file: "client.py", printed: PRINTED },
    { language: "ts", file: "client.mjs", printed: PRINTED },
    ...PEER_EXAMPLES.map((example) => ({ ...example, printed: PEERS_PRINT })),
  ]) {
    it(`${file} has every block of docs/integrate.md in ${language}, in the same order, and the page says what it prints`, () => {
      const text = readFileSync("docs/integrate.md", "utf8");
      const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\\n\`\`\``, "g"))].map(
        ([, block = ""]) => block,
      );
      expect(blocks).to.not.deep.equal([]);
      const program = withoutIndentation(readFileSync(`${FOLDER}/${file}`, "utf8"));
      let from = 0;
      for (const block of blocks.map(withoutIndentation)) {
        expect(program).to.include(block);
        expect(program.indexOf(block, from), block).to.be.at.least(from);
        from = program.indexOf(block) + block.length;
      }
      expect(text).to.include(`${FOLDER}/${file}`);
      expect(text).to.include(printed.join("\n"));
    });
  }

  for (const { command, file, compiled, more = [], needs } of PROGRAMS) {
    it(`${file} mints, redeems, repeats a call, reads an error and watches events`, async function () {
      const [program, ...args] = needs;
      if (spawnSync(program, args).status !== 0) {
        process.stderr.write(`      ${file} was not tried: this machine cannot run "${needs.join(" ")}"\n`);
        this.skip();
      }
      if (compiled !== undefined) await promisify(execFile)("npm", ["run", "--silent", "examples"]);
      const env = {
        PATH: process.env["PATH"],
        KESC_API_KEY: service.a.key,
        KESC_ADDRESS: service.grpcAddress,
        KESC_URL: `http://${service.httpAddress}`,
      };
      const { stdout } = await promisify(execFile)(command, [compiled ?? `${FOLDER}/${file}`], {
        env,
        timeout: 30_000,
      });
      const lines = stdout.trim().split("\n");
      expect(lines.map((line) => line.replace(/acc_[a-z0-9]{26}/, "acc_…"))).to.deep.equal([...PRINTED, ...more]);
    });
  }
});

/** A page shows a part of a program at its own margin. */
function withoutIndentation(code: string): string {
  return code.replaceAll(/^[ \t]+/gm, "");
}
