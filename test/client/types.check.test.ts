import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { expect } from "chai";

const PROGRAM = `
import { type Account, type Event, KescClient, KescError, type MintRequest, type TransactionStatus, verifyWebhook } from "@kesc/client";

const kesc = new KescClient({ address: "kesc.example.com:50051", apiKey: "key" });
const mint: MintRequest = { account_id: "acc_1", amount: "1.00", reference: "one" };
const words: Record<TransactionStatus, string> = { pending: "", processing: "", completed: "", failed: "", canceled: "" };
try {
  const { transaction, replayed } = await kesc.transactions.mint(mint, { idempotencyKey: "one" });
  const amount: string = transaction.amount;
  if (transaction.status !== "unrecognized") process.stdout.write(words[transaction.status]);
  // @ts-expect-error: a newer service can have another status
  words[transaction.status];
  const failed: string | undefined = transaction.failure?.message;
  const isReplay: boolean = replayed;
  const seen: Account[] = [];
  for await (const account of kesc.accounts.listAccounts({ page_size: 10 })) seen.push(account);
  const created: string | undefined = seen[0]?.created_at;
  for await (const { sequence } of kesc.events.watchEvents({ after_sequence: 1 })) if (sequence > 2) break;
  for await (const { error } of kesc.transactions.importTransactions([{ mint }])) process.stdout.write(error?.reason ?? "");
  const event: Event = verifyWebhook({ secret: "whsec_AAAA", headers: {}, body: "" });
  process.stdout.write(amount + failed + isReplay + created + event.id);
  const nothing: undefined = await kesc.transactions.mint(mint, { validateOnly: true });
} catch (error) {
  if (error instanceof KescError && error.reason === "INSUFFICIENT_FUNDS") process.exit(1);
  // @ts-expect-error: there is no such reason
  if (error instanceof KescError && error.reason === "INSUFFICIENT_FUND") process.exit(2);
}
// @ts-expect-error: an amount is a text
await kesc.transactions.mint({ ...mint, amount: 1 });
// @ts-expect-error: a reference is required
await kesc.transactions.mint({ account_id: "acc_1", amount: "1.00" });
// @ts-expect-error: a request has no such field
await kesc.transactions.mint({ ...mint, amout: "1.00" });
// @ts-expect-error: one of mint and redeem, and not both
await kesc.transactions.batchCreateTransactions({ requests: [{ mint, redeem: mint }] });
// @ts-expect-error: a method of a request with required fields has a request
await kesc.accounts.getAccount();
// @ts-expect-error: a read takes no idempotency key
await kesc.accounts.getAccount({ account_id: "acc_1" }, { idempotencyKey: "one" });
`;

describe("the types of @kesc/client", () => {
  it("serve a program in another folder", () => {
    const folder = mkdtempSync(join(tmpdir(), "kesc-client-types-"));
    try {
      mkdirSync(join(folder, "node_modules/@kesc"), { recursive: true });
      symlinkSync(resolve("dist/packages/client"), join(folder, "node_modules/@kesc/client"));
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
