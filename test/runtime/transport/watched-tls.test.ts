import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import type { TlsMaterial } from "../../../runtime/transport/tls.js";
import { WatchedTls } from "../../../runtime/transport/watched-tls.js";
import { logInto, type LogLine } from "../../support/service/log-lines.js";
import { Authority, type Issued, LOCAL_NAMES, type Wish, writeTls } from "../../support/tls/authority.js";

const HOUR_MILLIS = 3_600_000;
// The test looks itself.
const NEVER_MILLIS = 2 ** 31 - 1;

describe("TLS files that are watched", () => {
  let folder: string;
  let authority: Authority;
  let first: Issued;
  let lines: LogLine[];
  let clock: number;
  const opened: WatchedTls[] = [];
  before(async () => {
    authority = await Authority.create("tests");
    first = await issue();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-tls-"));
    lines = [];
    clock = Date.now();
  });
  afterEach(() => {
    for (const watched of opened.splice(0)) watched.close();
    rmSync(folder, { recursive: true });
  });

  function issue(time: Omit<Wish, "names"> = {}): Promise<Issued> {
    return authority.issue({ names: LOCAL_NAMES, ...time });
  }

  function open(issued: Issued): { watched: WatchedTls; taken: TlsMaterial[] } {
    const { cert, key, ca } = writeTls(folder, issued, authority.pem);
    const named = (path: string) => ({ variable: "KESC_X", path });
    const watched = new WatchedTls(
      { certificate: named(cert), key: named(key), ca: named(ca) },
      { log: logInto(lines, "info"), now: () => clock, lookMillis: NEVER_MILLIS },
    );
    opened.push(watched);
    const taken: TlsMaterial[] = [];
    watched.onChange((material) => taken.push(material));
    return { watched, taken };
  }

  it("are taken up when they have changed", async () => {
    const { watched, taken } = open(first);
    await watched.look();
    expect(taken).to.deep.equal([]);
    const next = await issue();
    writeTls(folder, next, authority.pem);
    await watched.look();
    expect(taken.map(({ cert }) => String(cert))).to.deep.equal([next.cert]);
    expect(watched.material).to.equal(taken[0]);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 30, serial: next.serial, msg: "new TLS files are in use" });
  });

  it("are looked at again and again", async () => {
    writeTls(folder, first, authority.pem);
    const named = (path: string) => ({ variable: "KESC_X", path: join(folder, path) });
    const watched = new WatchedTls(
      { certificate: named("cert.pem"), key: named("key.pem") },
      { log: logInto(lines, "info"), lookMillis: 5 },
    );
    opened.push(watched);
    const taken = new Promise((resolve) => {
      watched.onChange(resolve);
    });
    writeTls(folder, await issue(), authority.pem);
    await taken;
  });

  it("stay in use while new ones cannot be used, with one error in the log", async () => {
    const { watched, taken } = open(first);
    const next = await issue();
    // The key comes later: the certificate is that of another key.
    writeFileSync(join(folder, "cert.pem"), next.cert);
    await watched.look();
    expect(lines).to.deep.equal([]);
    await watched.look();
    await watched.look();
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 50 });
    expect(String(lines[0]?.["problem"])).to.contain("key values mismatch");
    expect(String(watched.material.cert)).to.equal(first.cert);
    writeFileSync(join(folder, "key.pem"), next.key);
    await watched.look();
    expect(taken).to.have.length(1);
  });

  for (const [what, spoil, words] of [
    [
      "is missing",
      (path: string) => {
        rmSync(path);
      },
      /cert\.pem \(KESC_X\) cannot be read: ENOENT/,
    ],
    [
      "is empty",
      (path: string) => {
        writeFileSync(path, "");
      },
      /are not a certificate and its private key/,
    ],
    [
      "is cut off",
      (path: string) => {
        writeFileSync(path, first.cert.slice(0, 200));
      },
      /are not a certificate/,
    ],
  ] as const) {
    it(`stay in use while the certificate ${what}`, async () => {
      const { watched, taken } = open(first);
      spoil(join(folder, "cert.pem"));
      await watched.look();
      await watched.look();
      expect(taken).to.deep.equal([]);
      expect(String(lines[0]?.["problem"])).to.match(words);
    });
  }

  for (const [what, time, words] of [
    ["has expired", { to: -HOUR_MILLIS }, /expired at/],
    ["is not valid yet", { from: HOUR_MILLIS }, /is not valid before/],
  ] as const) {
    it(`stay in use when the new certificate ${what}`, async () => {
      const { watched, taken } = open(first);
      writeTls(folder, await issue(time), authority.pem);
      await watched.look();
      await watched.look();
      expect(taken).to.deep.equal([]);
      expect(String(lines[0]?.["problem"])).to.match(words);
    });
  }

  it("say when the certificate expires, and warn from a day before, each hour", async () => {
    const { watched } = open(await issue({ to: 25 * HOUR_MILLIS }));
    expect(watched.notAfter).to.be.closeTo(clock + 25 * HOUR_MILLIS, 60_000);
    expect(lines).to.deep.equal([]);
    clock += 2 * HOUR_MILLIS;
    await watched.look();
    await watched.look();
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      [40, "the TLS certificate expires within a day"],
    ]);
    clock += 24 * HOUR_MILLIS;
    await watched.look();
    expect(lines.at(-1)).to.include({ level: 50, msg: "the TLS certificate has expired" });
  });
});
