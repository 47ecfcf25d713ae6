import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { expect } from "chai";

const PROGRAM = `
import { KescClient, KescError } from "kesc/client";

const kesc = new KescClient({ address: "kesc.example.com:50051", apiKey: "key" });
try {
  const { transaction } = await kesc.transactions.mint({ account_id: "acc_1", amount: "1.00", reference: "one" });
  const amount: string | undefined = transaction?.amount;
  for await (const account of kesc.allAccounts({ page_size: 10 })) process.stdout.write(account.available_balance);
  for await (const { sequence } of kesc.watchEvents({ after_sequence: 1n })) if (sequence > 2n) break;
  process.stdout.write(String(amount));
} catch (error) {
  if (error instanceof KescError && error.reason === "INSUFFICIENT_FUNDS") process.exit(1);
  // @ts-expect-error: there is no such reason
  if (error instanceof KescError && error.reason === "INSUFFICIENT_FUND") process.exit(2);
}
// @ts-expect-error: an amount is a text
await kesc.transactions.mint({ amount: 1 });
// @ts-expect-error: a stream is no unary rpc
kesc.transactions.importTransactions;
`;

describe("the types of kesc/client", () => {
  it("serve a program in another folder", () => {
    const folder = mkdtempSync(join(tmpdir(), "kesc-client-types-"));
    try {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(resolve("."), join(folder, "node_modules/kesc"));
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      writeFileSync(join(folder, "program.ts"), PROGRAM);
      const flags = ["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext"];
      const types = ["--types", "node", "--typeRoots", resolve("node_modules/@types")];
      const tsc = resolve("node_modules/typescript/bin/tsc");
      const run = (): string =>
        execFileSync(process.execPath, [tsc, ...flags, ...types, "program.ts"], { cwd: folder, encoding: "utf8" });
      expect(run).to.not.throw();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
