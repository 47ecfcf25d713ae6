import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Environment } from "../../../runtime/variables.js";
import type { Command } from "../../../src/domain/operations.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import { DIRECT_RAIL, type Rail } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { callbackToken, uuidOf } from "../../../src/rails/callback-token.js";
import type { Cell, Database } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { noteBalance, noteQuestion } from "../../../src/storage/rails/balances.js";
import { saveRailAccount } from "../../../src/storage/rails/change-rail-accounts.js";
import { type StoredBalance, storedRailAccount } from "../../../src/storage/rails/rail-accounts.js";
import { setDefaultRail } from "../as-machine.js";
import type { RestReply } from "../callers/rest-caller.js";
import { eventually } from "../eventually.js";
import { NO_DEADLINE } from "../names.js";
import { flag } from "../operations/transactions.js";
import { fresh } from "./each-engine.js";
import { type InProcess, startInProcess } from "./in-process.js";
import { makeKey } from "./tenants.js";

const SANDBOX_ID = "rail_01jd2r6p5vf8ksw3xhb1z7q4ye" as RailAccountId;
const now = () => toUnixMillis(Date.now());

/**
 * The server, the gateway and the settlement in this process, with a sandbox organization that has
 * an account at the sandbox rail. One person alone may resolve 100.00.
 */
export class WithRails {
  readonly running: InProcess;
  readonly organizationId: OrganizationId;
  readonly key: string;
  readonly #callbackSecret: Buffer;
  readonly #folder: string;

  private constructor(
    running: InProcess,
    given: { organizationId: OrganizationId; key: string; callbackSecret: Buffer; folder: string },
  ) {
    this.running = running;
    this.organizationId = given.organizationId;
    this.key = given.key;
    this.#callbackSecret = given.callbackSecret;
    this.#folder = given.folder;
  }

  static async start(environment: Environment = {}): Promise<WithRails> {
    const folder = mkdtempSync(join(tmpdir(), "kesc-rails-"));
    const callbackSecret = randomBytes(32);
    const secretFile = join(folder, "callback.secret");
    writeFileSync(secretFile, callbackSecret.toString("hex"), { mode: 0o600 });
    let organizationId: OrganizationId | undefined;
    let key = "";
    // A running server reads such settings every two seconds.
    const fill = async (database: Database): Promise<void> => {
      const stored = keys(database, now);
      ({ id: organizationId } = await stored.createOrganization("Tests", { isSandbox: true }));
      key = (await makeKey(stored, organizationId)).secret;
      await setSandbox(database, { organizationId, isDefault: false });
    };
    const given = { KESC_CALLBACK_BASE_URL: "http://127.0.0.1:8080", KESC_CALLBACK_SECRET_FILE: secretFile };
    const running = await startInProcess("sqlite", now, { ...given, ...environment }, fill);
    if (organizationId === undefined) throw new Error("the organization was not created");
    return new WithRails(running, { organizationId, key, callbackSecret, folder });
  }

  async dispose(): Promise<void> {
    await this.running.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Sets the sandbox, or direct, as the organization's default rail. */
  setSandbox({ isDefault }: { isDefault: boolean }): Promise<void> {
    return setSandbox(this.running.database, { organizationId: this.organizationId, isDefault });
  }

  /** Calls over REST, with the key of the organization unless another one is named. */
  post(path: string, body?: object, key = this.key): Promise<RestReply> {
    return this.running.rest.send("POST", path, { key, ...(body === undefined ? {} : { body }) });
  }

  patch(path: string, body: object, key = this.key): Promise<RestReply> {
    return this.running.rest.send("PATCH", path, { key, body });
  }

  get(path: string, key = this.key): Promise<RestReply> {
    return this.running.rest.send("GET", path, { key });
  }

  /** An account whose phone waits at the sandbox until somebody advances the order. */
  async newAccount(): Promise<string> {
    const body = { user_id: fresh("user"), phone_number: "0712345613" };
    return String((await this.post("/accounts", body)).json["id"]);
  }

  async tryMint(body: object): Promise<RestReply> {
    return this.post("/transactions/mint", { account_id: await this.newAccount(), reference: fresh("ref"), ...body });
  }

  /** Mints on the sandbox rail. Returns the id once the rail has the order, and waits. */
  async mint(amount: number): Promise<TransactionId> {
    const { status, text, json } = await this.tryMint({ amount, rail: "sandbox" });
    if (status !== 201) throw new Error(text);
    const id = json["id"] as TransactionId;
    await eventually(async () => (await this.get(`/transactions/${id}/payment`)).json["state"] === "accepted");
    return id;
  }

  /** A mint on the sandbox rail that needs attention. */
  async unknownMint(amount: number): Promise<TransactionId> {
    const id = await this.mint(amount);
    await this.submit(flag(this.organizationId, id, "OUTCOME_UNKNOWN"));
    return id;
  }

  async submit(command: Command): Promise<void> {
    const outcome = await this.running.ledger.submit(command, NO_DEADLINE);
    if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
  }

  /** The address to which a rail sends its message about the transaction. */
  callbackPath(id: TransactionId): string {
    const subject = { cell: 0, purpose: "collect", uuid: uuidOf(id) } as const;
    return `/callbacks/${callbackToken(this.#callbackSecret, subject)}`;
  }
}

interface SandboxSetting {
  readonly organizationId: OrganizationId;
  readonly isDefault: boolean;
  /** The kinds of destinations that it pays. */
  readonly destinations?: readonly string[];
}

/** Sets an organization's account at the sandbox. Servers use it within two seconds. */
export async function setSandbox(
  database: Database,
  { organizationId, isDefault, destinations = ["phone"] }: SandboxSetting,
): Promise<void> {
  const [cell] = database.cells;
  const stored = await storedRailAccount(cell, organizationId, "sandbox");
  const setting = {
    id: stored?.id ?? SANDBOX_ID,
    organizationId,
    rail: "sandbox" as Rail,
    settings: JSON.stringify({ destinations }),
    credentials: undefined,
    credentialsExpireAt: undefined,
    isDefault,
    beginWithinMillis: 120_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: toCents(10_000),
    floatMinCents: 0,
  } as const;
  await saveRailAccount(database, { cell, now: now(), setting });
  if (!isDefault) await setDefaultRail(cell, { organizationId, rail: DIRECT_RAIL, now: now() });
}

/** Lets the rail answer a question for the balance. */
export async function tellBalance(cell: Cell, id: RailAccountId, balance: StoredBalance): Promise<void> {
  await noteQuestion(cell, { id, question: "asked", at: balance.at });
  await noteBalance(cell, { id, question: "asked" }, balance);
}
