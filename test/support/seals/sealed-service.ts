import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { JsonObject } from "@bufbuild/protobuf";

import type { RestReply } from "../callers/rest-caller.js";
import type { ENGINES } from "../databases.js";
import { fresh } from "../service/each-engine.js";
import { type InProcess, startInProcess } from "../service/in-process.js";
import type { Tenant } from "../service/tenants.js";
import { sealBooks } from "./given-seals.js";

/** The text of a seal key file with the key of all tests. */
const SEAL_KEY_LINES = `secret ${Buffer.alloc(32, "seal").toString("base64url")}\n`;

/** The service with a seal key file. It seals when a test says so. */
export class SealedService {
  readonly running: InProcess;
  readonly #folder: string;

  private constructor(running: InProcess, folder: string) {
    this.running = running;
    this.#folder = folder;
  }

  static async start(engine: (typeof ENGINES)[number]): Promise<SealedService> {
    const folder = mkdtempSync(join(tmpdir(), "kesc-seals-"));
    const keyFile = join(folder, "seal.key");
    writeFileSync(keyFile, SEAL_KEY_LINES, { mode: 0o600 });
    const running = await startInProcess(engine, undefined, {
      KESC_SEAL_KEY_FILE: keyFile,
      KESC_SEAL_ORIGIN: "kesc.example.com",
    });
    return new SealedService(running, folder);
  }

  seal(): Promise<void> {
    return sealBooks(this.running.database.cells[0]);
  }

  get(path: string, { key }: Tenant = this.running.a): Promise<RestReply> {
    return this.running.rest.send("GET", path, { key });
  }

  /** Credits a new account. Returns the id of the transaction. */
  async mint(amount: string, { key }: Tenant = this.running.a): Promise<string> {
    const post = async (path: string, body: JsonObject): Promise<string> =>
      String((await this.running.rest.send("POST", path, { key, body })).json["id"]);
    const account_id = await post("/accounts", { user_id: fresh("user"), phone_number: "0712345678" });
    return post("/transactions/mint", { account_id, amount, reference: fresh("ref") });
  }

  async dispose(): Promise<void> {
    await this.running.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
