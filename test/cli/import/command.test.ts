import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import { Server, ServerCredentials, type ServerDuplexStream, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { Transaction } from "../../../src/gen/kesc/v1/transaction.js";
import {
  type ImportTransactionsRequest,
  type ImportTransactionsResponse,
  TransactionServiceService,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import { type Ended, kesc, Place, RunningKesc } from "../../support/service/kesc.js";
import { makeTenants, withKeys } from "../../support/service/tenants.js";

const ACCOUNT_ID = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
const HEADER = "type,account_id,amount,reference";

describe("kesc import", () => {
  let place: Place;
  before(() => {
    place = new Place();
  });
  after(() => {
    place.remove();
  });

  function fileOf(text: string): string {
    const file = join(place.folder, "file.csv");
    writeFileSync(file, text);
    return file;
  }

  /** Imports over an address where no server listens. */
  function check(text: string): Promise<Ended> {
    const variables = { ...place.variables, KESC_API_KEY: "kesc_aGoodSecretOfTwentyOrMore" };
    return kesc(["import", fileOf(text), "--address", "127.0.0.1:1"], variables);
  }

  it("names every bad line by its number and column, and sends nothing", async () => {
    const { code, stdout, stderr } = await check(
      [
        "\uFEFFtype,account_id,amount,reference,description,metadata.till",
        `mint,${ACCOUNT_ID},1.00,good,,`,
        `burn,acc\u0007,1.005,,"two\nlines",${"v".repeat(501)}`,
        "",
        `redeem,${ACCOUNT_ID},1.00`,
        `mint,${ACCOUNT_ID},0,last,,`,
      ].join("\r\n"),
    );
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    const lines = stderr.trim().split("\n");
    const short = lines.map((line) => line.replace(`${place.folder}/`, "").split(" ").slice(0, 4).join(" "));
    expect(short).to.deep.equal([
      "file.csv:3: type must be",
      "file.csv:3: account_id must be",
      "file.csv:3: amount must be",
      "file.csv:3: reference is required",
      "file.csv:3: description must be",
      "file.csv:3: metadata.till must have",
      "file.csv:6: line must have",
      "file.csv:7: amount must be",
      "3 of 4 lines",
    ]);
    expect(lines.at(-1)).to.equal("3 of 4 lines are invalid. Nothing was sent.");
  });

  for (const [name, text, words] of [
    ["lacks a column", "type,account_id,amount\n", "lacks the column reference"],
    ["has a column too many", `${HEADER},till\n`, 'has the unknown column "till"'],
    ["has a column twice", `${HEADER},amount\n`, "has the column amount twice"],
    ["has a pair without a key", `${HEADER},metadata.\n`, 'has the unknown column "metadata."'],
    ["is empty", "", "The file is empty."],
    ["is not CSV", `${HEADER}\nmint,"x"y,1,1\n`, "The file is not valid CSV: line 2 has text behind a closing quote."],
    [
      "never closes a quote",
      `${HEADER}\nmint,"x,1,1\n${"y".repeat(140_000)}`,
      "The file is not valid CSV: line 2 begins a record of more than 131072 bytes.",
    ],
  ] as const) {
    it(`refuses a file that ${name}`, async () => {
      const { code, stderr } = await check(text);
      expect(code).to.equal(1);
      expect(stderr).to.include("file.csv: ").and.to.include(words);
    });
  }

  it("names a missing file, and a missing key, and never shows one that is wrong", async () => {
    const variables = { ...place.variables, KESC_API_KEY: "kesc_aGoodSecretOfTwentyOrMore" };
    const missing = await kesc(["import", join(place.folder, "none.csv")], variables);
    expect(missing.code).to.equal(1);
    expect(missing.stderr).to.match(/none\.csv: The file cannot be read: ENOENT/);
    const keyless = await kesc(["import", fileOf(HEADER)], place.variables);
    expect(keyless).to.include({
      code: 2,
      stderr: "KESC_API_KEY is not set. Set it to the API key of your organization.\n",
    });
    const twice = await kesc(["import", fileOf(`${HEADER}\nmint,${ACCOUNT_ID},1.00,first`)], {
      ...place.variables,
      KESC_API_KEY: "kesc_aGoodSecretOfTwentyOrMore\nkesc_aGoodSecretOfTwentyOrMore",
    });
    expect(twice).to.include({
      code: 2,
      stderr: "KESC_API_KEY does not hold an API key: a key has no spaces and only ASCII characters.\n",
    });
  });

  it("imports the good lines, prints the reason of each refused line, and writes the refused lines to a file", async () => {
    const [{ key }] = await withKeys(place.databaseUrl, makeTenants);
    const server = new RunningKesc(["server"], place.variables);
    const { address } = await server.ready;
    const file = fileOf(
      `${HEADER},metadata.till\nmint,${ACCOUNT_ID},1.00,first,7\nredeem,${ACCOUNT_ID},"2.00",second,\n`,
    );
    const rejects = join(place.folder, "rejects.csv");
    const run = (secret: string, ...options: string[]): Promise<Ended> =>
      kesc(["import", file, "--address", address, ...options], { ...place.variables, KESC_API_KEY: secret });

    const { code, stdout, stderr } = await run(key, "--rejects", rejects);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "2 lines: 0 new, 0 done before.\n" });
    expect(stderr.split("\n").slice(0, 4)).to.deep.equal([
      `${file}:2: ACCOUNT_NOT_FOUND: Account ${ACCOUNT_ID} was not found.`,
      `${file}:3: ACCOUNT_NOT_FOUND: Account ${ACCOUNT_ID} was not found.`,
      "2 of 2, 2 refused",
      "Refused lines: 2. Nothing was done for them.",
    ]);
    expect(readFileSync(rejects, "utf8")).to.equal(readFileSync(file, "utf8"));
    expect(statSync(rejects).mode & 0o077).to.equal(0);

    const stranger = await run("kesc_nobodyHasThisSecret00");
    expect(stranger.code).to.equal(1);
    expect(stranger.stderr).to.equal(
      "The server refused the import: The API key is invalid: it is unknown, expired or revoked.\n",
    );

    const itself = await run(key, "--rejects", file);
    expect(itself).to.include({ code: 2, stderr: `--rejects names the file to import, ${file}. Name another file.\n` });
    expect(await server.end()).to.equal(0);
  });

  it("says how far it has come if the server refuses the rest, and that it may be run again", async () => {
    const server = new Server();
    // One chunk is done. Then the key is revoked.
    server.addService(
      { importTransactions: TransactionServiceService.importTransactions },
      {
        importTransactions: (call: ServerDuplexStream<ImportTransactionsRequest, ImportTransactionsResponse>) => {
          let chunks = 0;
          call.on("data", ({ requests }: ImportTransactionsRequest) => {
            chunks += 1;
            if (chunks === 1) {
              const outcome = { $case: "transaction", value: Transaction.decode(new Uint8Array()) } as const;
              call.write({ results: requests.map(() => ({ replayed: false, outcome })) });
            } else call.emit("error", { code: Status.UNAUTHENTICATED, details: "The API key is invalid." });
          });
        },
      },
    );
    const port = await promisify<string, ServerCredentials, number>(server.bindAsync.bind(server))(
      "127.0.0.1:0",
      ServerCredentials.createInsecure(),
    );
    const lines = Array.from({ length: 150 }, (_, index) => `mint,${ACCOUNT_ID},1.00,r-${String(index)}`);
    const ended = await kesc(
      ["import", fileOf([HEADER, ...lines].join("\n")), "--address", `127.0.0.1:${String(port)}`],
      {
        ...place.variables,
        KESC_API_KEY: "kesc_aGoodSecretOfTwentyOrMore",
      },
    );
    expect(ended.stderr).to.include(
      "The server refused the import: The API key is invalid. 100 of 150 lines have a result, and others may be done, " +
        "too. Run the command again: it does no line twice.\n",
    );
    server.forceShutdown();
  });

  it("says on Ctrl-C how far it has come, and that it may be run again", async () => {
    // A server that takes connections and answers nothing.
    const server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const file = fileOf(`${HEADER}\nmint,${ACCOUNT_ID},1.00,first\n`);
    const importing = new RunningKesc(["import", file, "--address", `127.0.0.1:${String(port)}`], {
      ...place.variables,
      KESC_API_KEY: "kesc_aGoodSecretOfTwentyOrMore",
    });
    await once(server, "connection");
    expect(await importing.end("SIGINT")).to.equal("SIGINT");
    expect(importing.stderr).to.equal(
      "\nInterrupted: 0 of 1 lines have a result, and others may be done, too. Run the command again: it does no line twice.\n",
    );
    server.close();
  });
});
