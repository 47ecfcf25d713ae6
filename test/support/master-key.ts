import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { threadId } from "node:worker_threads";

/** The master key file of all tests, unless a test makes one of its own. */
/** No file: the services of most tests seal nothing. */
export const NO_SEAL_KEY_FILE = join(tmpdir(), "kesc-test-keys", "none.key");

export const TEST_MASTER_KEY_FILE = join(tmpdir(), "kesc-test-keys", "master.key");

/** The same key in every run and in every process, so that no process needs to wait for another. */
export const TEST_MASTER_KEY = Buffer.alloc(32, "kesc").toString("base64url");

// Other processes may be reading the file, so it is never half written.
mkdirSync(dirname(TEST_MASTER_KEY_FILE), { recursive: true });
const written = `${TEST_MASTER_KEY_FILE}.${String(process.pid)}.${String(threadId)}`;
writeFileSync(written, `${TEST_MASTER_KEY}\n`, { mode: 0o600 });
renameSync(written, TEST_MASTER_KEY_FILE);
