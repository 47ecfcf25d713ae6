import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { typeidUnboxed } from "typeid-js";

import type { RailAccountId } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { now } from "../../src/startup/clock.js";
import type { Database } from "../../src/storage/database.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";

/** The name of the rail whose server `daraja-stub.ts` is. */
export const MPESA = "mpesa";
const HOUR_MILLIS = 3_600_000;
const KEY_BITS = 2_048;

/** What a server must know to use an account at M-Pesa. */
export interface CallbackSettings {
  env: { KESC_CALLBACK_BASE_URL: string; KESC_CALLBACK_SECRET_FILE: string; KESC_RAIL_HOSTS: string };
  /** The secret of the tokens in the addresses of callbacks. */
  secret: Buffer;
}

/** Writes a new secret into the folder. The stub knows the gateway, so the URL leads nowhere. */
export function callbackSettings(folder: string): CallbackSettings {
  const secret = randomBytes(32);
  const file = join(folder, "callback.secret");
  writeFileSync(file, secret.toString("hex"), { mode: 0o600 });
  const env = {
    KESC_CALLBACK_BASE_URL: "http://127.0.0.1:9",
    KESC_CALLBACK_SECRET_FILE: file,
    KESC_RAIL_HOSTS: "127.0.0.1,localhost",
  };
  return { env, secret };
}

/** Gives an organization of the first cell an account at the stub. Servers see it in seconds. */
export async function giveRailAccount(
  database: Database,
  organizationId: OrganizationId,
  stubAddress: string,
): Promise<RailAccountId> {
  const id = typeidUnboxed("rail") as string as RailAccountId;
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: KEY_BITS });
  const settings = {
    baseUrl: `http://${stubAddress}`,
    collectShortcode: "600001",
    payOutShortcode: "600002",
    initiatorName: "bench",
    certificatePem: publicKey.export({ type: "spki", format: "pem" }),
  };
  const credentials = { consumerKey: "bench", consumerSecret: "bench", passkey: "bench", initiatorPassword: "bench" };
  const setting = {
    id,
    organizationId,
    rail: MPESA as Rail,
    settings: JSON.stringify(settings),
    credentials: JSON.stringify(credentials),
    credentialsExpireAt: toUnixMillis(now() + 1_000 * HOUR_MILLIS),
    isDefault: false,
    // No prompt of a benchmark expires.
    beginWithinMillis: HOUR_MILLIS,
    confirmAboveCents: 0,
    resolveAloneMaxCents: 0,
    floatMinCents: 0,
  } as const;
  await saveRailAccount(database, { setting, cell: database.cells[0], now: now() });
  return id;
}
