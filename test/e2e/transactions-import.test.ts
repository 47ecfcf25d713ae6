import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { availableOf, describeEachEngine, fresh, newAccount, newKey } from "../support/service/each-engine.js";
import { kesc, RunningKesc, type Variables } from "../support/service/kesc.js";

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

  /** Writes a file of mints of 1.00 into the account. */
  function fileOf(lines: number, accountId: string): string {
    const file = join(folder, `${fresh("payroll")}.csv`);
    const rows = Array.from({ length: lines }, () => `mint,${accountId},1.00,${fresh("line")}`);
    writeFileSync(file, ["type,account_id,amount,reference", ...rows, ""].join("\n"));
    return file;
  }

  /** Runs `kesc import`, which must succeed; returns its totals. */
  async function importFile(file: string): Promise<{ created: number; replayed: number }> {
    const { code, stdout, stderr } = await kesc(["import", file, "--json"], variables());
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as { created: number; replayed: number };
  }

  const variables = (): Variables => ({ ...service().variables, KESC_API_KEY: service().a.key });

  it("returns the results of each message in order, and replays when it is repeated", async () => {
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

  it("reaches no other organization's accounts, and is refused without a key that may mint", async () => {
    const account_id = await newAccount(service(), "5.00");
    const { secret: reader } = await newKey(service(), { scopes: ["transactions:read"] });
    const requests = [{ redeem: { account_id, amount: "1.00", reference: fresh("theirs") } }];
    const { responses } = await service().grpc.exchange("ImportTransactions", [{ requests }], {
      key: service().b.key,
    });
    const results = responses.flatMap((response) => response["results"] as Result[]);
    expect(results.map(({ error }) => error?.message)).to.deep.equal([`Account ${account_id} was not found.`]);
    for (const [key, reason] of [
      [reader, "SCOPE_REQUIRED"],
      ["", "MISSING_API_KEY"],
    ] as const) {
      const refused = await service().grpc.exchange("ImportTransactions", [{ requests }], { key });
      expect(refused).to.deep.include({ reason, responses: [] });
    }
    expect(await availableOf(service(), account_id)).to.equal("5.00");
  });

  it("imports a file of 3,000 lines once, though it is run twice", async () => {
    const account_id = await newAccount(service());
    const file = fileOf(3_000, account_id);
    expect(await importFile(file)).to.deep.equal({ lines: 3_000, created: 3_000, replayed: 0, refused: 0 });
    expect(await importFile(file)).to.deep.equal({ lines: 3_000, created: 0, replayed: 3_000, refused: 0 });
    expect(await availableOf(service(), account_id)).to.equal("3000.00");
  }).timeout(60_000);

  it("goes on after a kill in the middle, and does each line once", async () => {
    const account_id = await newAccount(service());
    const file = fileOf(2_000, account_id);
    const cut = new RunningKesc(["import", file, "--json"], variables());
    await cut.said("600 of 2,000");
    expect(await cut.end("SIGKILL")).to.equal("SIGKILL");
    const { created, replayed } = await importFile(file);
    expect(created + replayed).to.equal(2_000);
    expect(replayed).to.be.at.least(600);
    expect(await availableOf(service(), account_id)).to.equal("2000.00");
  }).timeout(60_000);
});
