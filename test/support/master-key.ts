import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The master key file of all tests, unless a test makes one of its own. */
export const TEST_MASTER_KEY_FILE = join(tmpdir(), "kesc-test-keys", "master.key");

/** The same key in every run and in every process, so that no process needs to wait for another. */
export const TEST_MASTER_KEY = Buffer.alloc(32, "kesc").toString("base64url");

mkdirSync(join(tmpdir(), "kesc-test-keys"), { recursive: true });
writeFileSync(TEST_MASTER_KEY_FILE, `${TEST_MASTER_KEY}\n`, { mode: 0o600 });
