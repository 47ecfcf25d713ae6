import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Command } from "../../../src/domain/commands.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import type { RestReply } from "../callers/rest-caller.js";
import { beginPayment, flag, NO_DEADLINE } from "../commands.js";
import { fresh } from "./each-engine.js";
import { type InProcess, startInProcess } from "./in-process.js";
import { MemoryRails, railAccount, SANDBOX, storedPayment } from "./memory-rails.js";

/**
 * The server and the gateway with a real ledger, in which organization A has the sandbox rail. What
 * the settlement would do, a test does.
 */
export class WithRails {
  readonly rails: MemoryRails;
  readonly callbackSecret: Buffer;
  readonly running: InProcess;

  private constructor(running: InProcess, { rails, callbackSecret }: { rails: MemoryRails; callbackSecret: Buffer }) {
    this.running = running;
    this.rails = rails;
    this.callbackSecret = callbackSecret;
  }

  static async start(): Promise<WithRails> {
    const parts = { rails: new MemoryRails(), callbackSecret: randomBytes(32) };
    const folder = mkdtempSync(join(tmpdir(), "kesc-rails-"));
    const secretFile = join(folder, "callback.secret");
    writeFileSync(secretFile, `${parts.callbackSecret.toString("hex")}\n`, { mode: 0o600 });
    const running = await startInProcess("sqlite", undefined, {
      railsOf: () => parts.rails,
      variables: { KESC_CALLBACK_BASE_URL: "http://127.0.0.1:1", KESC_CALLBACK_SECRET_FILE: secretFile },
    });
    rmSync(folder, { recursive: true });
    // One person alone may resolve 100.00.
    const changes = { resolveAloneMaxCents: 10_000 as never };
    parts.rails.accounts.push(railAccount(running.a.organizationId, changes));
    return new WithRails(running, parts);
  }

  /** Calls over REST, with the key of organization A unless another one is named. */
  post(path: string, body?: object, key = this.running.a.key): Promise<RestReply> {
    return this.running.rest.send("POST", path, { key, ...(body === undefined ? {} : { body }) });
  }

  get(path: string, key = this.running.a.key): Promise<RestReply> {
    return this.running.rest.send("GET", path, { key });
  }

  async newAccount(): Promise<string> {
    const body = { user_id: fresh("user"), phone_number: "0712345678" };
    return String((await this.post("/accounts", body)).json["id"]);
  }

  /** Mints on the sandbox rail. Returns the id of the transaction, which is PENDING. */
  async mint(amount: number): Promise<TransactionId> {
    const account_id = await this.newAccount();
    const body = { account_id, amount, reference: fresh("ref"), rail: SANDBOX };
    const { status, text, json } = await this.post("/transactions/mint", body);
    if (status !== 201 || json["status"] !== "pending") throw new Error(text);
    const transactionId = json["id"] as TransactionId;
    const { organizationId } = this.running.a;
    this.rails.stored.set(transactionId, storedPayment({ transactionId, organizationId }));
    return transactionId;
  }

  /** A mint on the sandbox rail that is PROCESSING, and needs attention. */
  async unknownMint(amount: number): Promise<TransactionId> {
    const id = await this.mint(amount);
    const { organizationId } = this.running.a;
    await this.submit(beginPayment(organizationId, id));
    await this.submit(flag(organizationId, id, "OUTCOME_UNKNOWN"));
    return id;
  }

  async submit(command: Command): Promise<void> {
    const outcome = await this.running.ledger.submit(command, NO_DEADLINE);
    if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
  }
}
