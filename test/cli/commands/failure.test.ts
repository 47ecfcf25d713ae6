import { type EventEmitter, once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";

import { expect } from "chai";

import { reportFailure } from "../../../src/cli/commands/failure.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import { runWithin } from "../../../src/startup/invocation.js";

/** An error of the system as Node makes it, of a kind that cannot be had here on demand. */
function systemError(code: string, errno: number, facts: object): Error {
  return Object.assign(new Error(`${code}: of the system`), { code, errno, ...facts });
}

describe("the words for an error that a command does not expect", () => {
  let folder: string;
  let server: Server;
  let port: number;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-failure-"));
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    rmSync(folder, { recursive: true });
    server.close();
  });

  async function wordsFor(fail: () => unknown): Promise<string> {
    const stderr = new PassThrough();
    await runWithin({ env: {}, stdin: new PassThrough(), stdout: new PassThrough(), stderr }, async () => {
      try {
        await fail();
      } catch (error) {
        reportFailure(error);
      }
    });
    return String(stderr.read()).replaceAll(folder, "FOLDER").replaceAll(String(port), "PORT");
  }

  const failed = (emitter: EventEmitter) => once(emitter, "never");
  const thrown = (error: Error) => () => {
    throw error;
  };
  const path = "/srv/kesc/report.json";
  const CASES: readonly (readonly [string, () => unknown, string])[] = [
    [
      "ENOENT",
      () => readFileSync(join(folder, "none")),
      "The file or folder FOLDER/none cannot be used: no such file or directory",
    ],
    [
      "EISDIR",
      () => {
        writeFileSync(folder, "");
      },
      "The file or folder FOLDER cannot be used: illegal operation on a directory",
    ],
    [
      "EEXIST",
      () => {
        mkdirSync(folder);
      },
      "The file or folder FOLDER cannot be used: file already exists",
    ],
    [
      "EACCES",
      thrown(systemError("EACCES", -13, { syscall: "open", path })),
      `The file or folder ${path} cannot be used: permission denied`,
    ],
    [
      "ENOSPC",
      () => {
        writeFileSync("/dev/full", "x");
      },
      "The system refused to write: no space left on device",
    ],
    [
      "EADDRINUSE",
      () => failed(createServer().listen(port, "127.0.0.1")),
      "The address 127.0.0.1:PORT cannot be used: address already in use",
    ],
    [
      "EADDRINUSE of a socket file",
      thrown(systemError("EADDRINUSE", -98, { syscall: "listen", address: "/run/kesc.sock", port: -1 })),
      "The address /run/kesc.sock cannot be used: address already in use",
    ],
    ["ECONNREFUSED", () => failed(connect(1, "127.0.0.1")), "127.0.0.1:1 cannot be reached: connection refused"],
    [
      "ECONNREFUSED at each address of a host",
      thrown(new AggregateError([systemError("ECONNREFUSED", -111, { syscall: "connect", address: "::1", port: 5 })])),
      "::1:5 cannot be reached: connection refused",
    ],
    [
      "ENOTFOUND",
      thrown(systemError("ENOTFOUND", -3008, { syscall: "getaddrinfo", hostname: "none.invalid" })),
      "The host none.invalid cannot be found: unknown node or service",
    ],
    ["EPIPE", thrown(systemError("EPIPE", -32, { syscall: "write" })), "A connection was lost: broken pipe"],
    [
      "ECONNRESET",
      thrown(systemError("ECONNRESET", -104, { syscall: "read" })),
      "A connection was lost: connection reset by peer",
    ],
    [
      "EMFILE",
      thrown(systemError("EMFILE", -24, { syscall: "spawn" })),
      "The system refused to spawn: too many open files",
    ],
    [
      "an error of PostgreSQL",
      thrown(Object.assign(new Error("deadlock detected"), { code: "40P01" })),
      "The database failed: deadlock detected. Repair it",
    ],
    [
      "an error of SQLite",
      thrown(Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR" })),
      "The database failed: disk I/O error. Repair it",
    ],
    [
      "the lock of another program that writes",
      thrown(Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" })),
      "The database is in use: database is locked. Another program was writing. Run the command again.",
    ],
    [
      "the system's error in the database",
      thrown(new StoreError("unavailable", systemError("ECONNRESET", -104, { syscall: "read" }))),
      "The database failed: ECONNRESET: of the system. Repair it",
    ],
    [
      "a mistake of ours",
      thrown(Object.assign(new TypeError("not a Buffer"), { code: "ERR_INVALID_ARG_TYPE" })),
      "Internal error: not a Buffer. Set KESC_LOG_LEVEL=debug",
    ],
    ["any other value", thrown(null as unknown as Error), "Internal error: no reason was given."],
  ];
  for (const [what, fail, words] of CASES) {
    it(what, async () => {
      expect(await wordsFor(fail)).to.satisfy((text: string) => text.startsWith(words), await wordsFor(fail));
    });
  }
});
