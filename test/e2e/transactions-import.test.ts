import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { expect } from "chai";

import { availableOf, describeEachEngine, fresh, newAccount } from "../support/each-engine.js";

const KESC = resolve("dist/src/cli/kesc.js");

interface Result {
  readonly transaction?: { readonly reference: string };
  readonly error?: { readonly message: string };
  readonly replayed: boolean;
}

describeEachEngine("ImportTransactions", (service) => {
  const folder = mkdtempSync(join(tmpdir(), "kesc-import-"));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** A file of mints of 1.00 into the account. */
  function fileOf(lines: number, accountId: string): string {
    const file = join(folder, `${fresh("payroll")}.csv`);
    const rows = Array.from({ length: lines }, () => `mint,${accountId},1.00,${fresh("line")}`);
    writeFileSync(file, ["type,account_id,amount,reference", ...rows, ""].join("\n"));
    return file;
  }

  /** Runs `kesc import`; with `cutAfter`, until it has printed these words. */
  async function importFile(file: string, cutAfter?: string): Promise<{ code: number | null; output: string }> {
    const environment = { ...service().environment, KESC_API_KEY: service().a.key };
    const command = spawn(process.execPath, [KESC, "import", file, "--json"], { env: environment });
    const exited = once(command, "close") as Promise<[number | null]>;
    let output = "";
    for (const stream of [command.stdout, command.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (cutAfter !== undefined && output.includes(cutAfter)) command.kill("SIGKILL");
      });
    }
    const [code] = await exited;
    return { code, output };
  }

  const totalsOf = (output: string): unknown => JSON.parse(output.slice(output.indexOf("{"))) as unknown;

  it("answers each message with its results, in order, and a repeat with replays", async () => {
    const account_id = await newAccount(service());
    const messages = [3, 1, 5].map((count, index) => ({
      requests: Array.from({ length: count }, () => ({
        mint: { account_id, amount: "1.00", reference: fresh(`message${String(index)}`) },
      })),
    }));
    messages[1]?.requests.push({ mint: { account_id, amount: "1.005", reference: fresh("bad") } });
    for (const replayed of [false, true]) {
      const { code, responses } = await service().grpc.exchange("ImportTransactions", messages);
      expect(code).to.equal(0);
      const results = responses.map((response) => response["results"] as Result[]);
      expect(results.map((each) => each.length)).to.deep.equal([3, 2, 5]);
      expect(results[1]?.[1]?.error?.message).to.match(/^Invalid request: amount must be a decimal/);
      const done = results.flat().filter(({ error }) => error === undefined);
      expect(done.map(({ transaction }) => transaction?.reference)).to.deep.equal(
        messages
          .flatMap(({ requests }) => requests.map(({ mint }) => mint.reference))
          .filter((each) => !/bad/.test(each)),
      );
      expect(done.map((result) => result.replayed)).to.deep.equal(Array(9).fill(replayed));
    }
    expect(await availableOf(service(), account_id)).to.equal("9.00");
  });

  it("reaches nobody else's accounts, and is refused to a key that may not mint, and to none", async () => {
    const account_id = await newAccount(service(), "5.00");
    const { output } = await service().kesc(
      ...["key", "create", "--org", service().a.organizationId, "--name", fresh("reader"), "--json"],
      ...["--scopes", "transactions:read"],
    );
    const { key: reader } = JSON.parse(output) as { key: string };
    const requests = [{ redeem: { account_id, amount: "1.00", reference: fresh("theirs") } }];
    const { responses } = await service().grpc.exchange("ImportTransactions", [{ requests }], {
      key: service().b.key,
    });
    const results = responses.flatMap((response) => response["results"] as Result[]);
    expect(results.map(({ error }) => error?.message)).to.deep.equal(["There is no such account"]);
    for (const [key, reason] of [
      [reader, "SCOPE_REQUIRED"],
      ["", "MISSING_API_KEY"],
    ] as const) {
      const refused = await service().grpc.exchange("ImportTransactions", [{ requests }], { key });
      expect(refused).to.deep.include({ reason, responses: [] });
    }
    expect(await availableOf(service(), account_id)).to.equal("5.00");
  });

  it("imports a file of 10,000 lines once, though it is run twice", async () => {
    const account_id = await newAccount(service());
    const file = fileOf(10_000, account_id);
    const first = await importFile(file);
    expect(first.code, first.output).to.equal(0);
    expect(totalsOf(first.output)).to.deep.equal({ lines: 10_000, created: 10_000, replayed: 0, refused: 0 });
    const second = await importFile(file);
    expect(second.code, second.output).to.equal(0);
    expect(totalsOf(second.output)).to.deep.equal({ lines: 10_000, created: 0, replayed: 10_000, refused: 0 });
    expect(await availableOf(service(), account_id)).to.equal("10000.00");
  }).timeout(60_000);

  it("goes on after it was killed in the middle, and does each line once", async () => {
    const account_id = await newAccount(service());
    const file = fileOf(2_000, account_id);
    await importFile(file, "600 of 2,000");
    const { code, output } = await importFile(file);
    expect(code, output).to.equal(0);
    const { created, replayed } = totalsOf(output) as { created: number; replayed: number };
    expect(created + replayed).to.equal(2_000);
    expect(replayed).to.be.at.least(600);
    expect(await availableOf(service(), account_id)).to.equal("2000.00");
  }).timeout(60_000);
});
