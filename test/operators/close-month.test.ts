import { createHash, generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { toCents } from "../../src/domain/values/cents.js";
import { parseMonth } from "../../src/domain/values/month.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { toTimestamp } from "../../src/grpc/messages/timestamp.js";
import { hashedText } from "../../src/months/pack.js";
import { ZipReader } from "../../src/months/zip-reader.js";
import { publicBytesOf, verifierKeyOf } from "../../src/seals/note.js";
import { mt940 } from "../support/bank-files.js";
import { commitAll } from "../support/commit.js";
import { newAccountId, valid } from "../support/names.js";
import { createAccount, eraseAccount } from "../support/operations/accounts.js";
import { closeMonth, recordReserve } from "../support/operations/book.js";
import { mint, redeem } from "../support/operations/transactions.js";
import { SEAL_PUBLIC_KEY, sealBooks } from "../support/seals/given-seals.js";
import { type Ended, kesc } from "../support/service/kesc.js";
import {
  approved,
  type GivenOperator,
  MPESA_CREDENTIALS,
  MPESA_SETTINGS,
  type OperatorService,
  startOperatorService,
} from "./given.js";

const SEAL_KEY_LINES = `secret ${Buffer.alloc(32, "seal").toString("base64url")}\n`;
const ORIGIN = "kesc.example.com";
const LAST_DAY = "2026-10-31" as NairobiDay;
const EACH_PLACE = 100;

/** A moment in Kenya. */
const at = (text: string): UnixMillis => toUnixMillis(Date.parse(`${text}+03:00`));

describe("the closing of a month", () => {
  let service: OperatorService;
  let fin: GivenOperator;
  let folder: string;
  let organizationId: OperatorService["tenant"]["organizationId"];
  let now = at("2026-10-02T09:00:00");
  const accountId = newAccountId();

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-close-"));
    const environment = { KESC_SEAL_KEY_FILE: join(folder, "seal.key"), KESC_SEAL_ORIGIN: ORIGIN };
    service = await startOperatorService("sqlite", { now: () => now, environment });
    fin = await service.operator("Fin", "finance");
    ({ organizationId } = service.tenant);
    await live();
  });
  after(async () => {
    await service.dispose();
    rmSync(folder, { recursive: true });
  });

  const path = (name: string): string => join(folder, name);
  const commit = (commands: Parameters<typeof commitAll>[1]): Promise<void> =>
    commitAll(service.opened.cell, commands, now);
  const numbered = (index: number): string => String(index).padStart(3, "0");

  /** 300 transactions in October, a third each at M-Pesa and at two banks. */
  async function live(): Promise<void> {
    await commit([createAccount(organizationId, "amina", { newAccountId: accountId })]);
    for (let index = 0; index < EACH_PLACE; index += 1) {
      now = toUnixMillis(now + 6 * 3_600_000);
      const moved = { organizationId, accountId };
      const [kcb, equity] = [`KCB${numbered(index)}`, `EQ${numbered(index)}`];
      await commit([
        mint({ ...moved, amount: "10.00", reference: `m${String(index)}`, receipt: `SAAQDM7${numbered(index)}` }),
        mint({ ...moved, amount: "20.00", reference: kcb, receipt: `kcb-1234:${kcb}` }),
        redeem({ ...moved, amount: "0.50", reference: equity, receipt: `equity-9:${equity}` }),
      ]);
    }
    const early = { amountCents: toCents(0), asOfDay: "2026-10-01" as NairobiDay, kind: "bank_kenya" } as const;
    await commit([
      recordReserve(organizationId, "Equity 9", { ...early, evidence: "opened by 0712345678, amina@example.com" }),
    ]);
    now = at("2026-11-01T00:00:30");
    await commit([mint({ organizationId, accountId, amount: "7.00", reference: "n1", receipt: "kcb-1234:NOV" })]);
  }

  const mpesaFile = (): string => {
    const rows = [...Array(EACH_PLACE).keys()].map(
      (index) => `SAAQDM7${numbered(index)},2026-10-05 10:05:33,Pay Bill,Completed,10.00,`,
    );
    const head = "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn";
    writeFileSync(path("mpesa.csv"), [head, ...rows, ""].join("\n"));
    return `mpesa=${path("mpesa.csv")}`;
  };
  const bankFile = (place: string, line: (index: number) => string, closing: string): string => {
    const lines = [...Array(EACH_PLACE).keys()].map((index) => `:61:261005${line(index)}`);
    const [opening] = [place === "Equity 9" ? "C261001KES100," : "C261001KES0,"];
    writeFileSync(path(`${place}.sta`), mt940({ number: "10", opening, lines, closing: `C261031KES${closing}` }));
    return `${place}=${path(`${place}.sta`)}`;
  };
  const kcbFile = (closing = "2000,"): string =>
    bankFile("KCB 1234", (index) => `C20,NTRFNONREF//KCB${numbered(index)}`, closing);
  const equityFile = (closing = "50,"): string =>
    bankFile("Equity 9", (index) => `D0,50NTRFEQ${numbered(index)}//X${numbered(index)}`, closing);

  function close(args: readonly string[], key = fin.key): Promise<Ended> {
    const { operatorAddress = "" } = service.servers[0];
    return kesc(["close", ...args], {
      DATABASE_URL: "sqlite:/nowhere/kesc.db",
      KESC_OPERATOR_SERVER: operatorAddress,
      KESC_OPERATOR_KEY: key,
    });
  }
  const closeOctober = (statements: readonly string[], ...more: readonly string[]): Promise<Ended> =>
    close([
      "Tenant",
      "--month",
      "2026-10",
      ...statements.flatMap((each) => ["--statement", each]),
      "--output",
      folder,
      ...more,
    ]);

  async function figure(place: string, cents: number): Promise<void> {
    const given = { amountCents: toCents(cents), asOfDay: LAST_DAY, kind: "bank_kenya" } as const;
    await commit([recordReserve(organizationId, place, { ...given, evidence: "statement 10, 0712345678" })]);
  }

  it("is refused before a minute after the month's end in Kenya", async () => {
    const { code, stderr } = await closeOctober([]);
    now = at("2026-11-02T09:00:00");
    expect(code).to.equal(2);
    expect(stderr).to.include("month must have ended a minute ago, and ends at 2026-10-31T21:00:00.000Z");
  });

  it("is refused with all that keeps the month open, each with its act", async () => {
    const railAccount = {
      rail: "mpesa",
      settings: JSON.stringify(MPESA_SETTINGS),
      credentials: JSON.stringify(MPESA_CREDENTIALS),
      note: "new",
      credentials_expire_at: toTimestamp(toUnixMillis(now + 1e9)),
    };
    const set = await service.admin[0].call(Rpcs.setRailAccount, railAccount, {
      key: fin.key,
      organization: organizationId,
    });
    const app = await service.operator("App", "approver");
    expect(await approved(service.admin[0], set.proposalId, app)).to.equal(undefined);
    await figure("KCB 1234", 190_000);
    const { code, stderr } = await closeOctober([kcbFile("2000,"), equityFile()]);
    expect(code, stderr).to.equal(1);
    for (const said of [
      "The month 2026-10 cannot be closed yet:",
      "- there is no seal key: run kesc seal rotate, and restart the servers",
      "- its last row 304 is not sealed, but row 0 is",
      "- mpesa has no statement: add --statement 'mpesa=FILE'",
      `- the statement of KCB 1234 closes otherwise: kesc reserve record ${organizationId} --place 'KCB 1234' --amount 2000.00 --as-of 2026-10-31 --kind bank_kenya --evidence TEXT`,
      `- Equity 9 has no figure for 2026-10-31: kesc reserve record ${organizationId} --place 'Equity 9' --amount AMOUNT`,
    ]) {
      expect(stderr).to.include(said);
    }
  });

  it("names the statement that has a wrong place, and says that a month beyond a bound cannot be closed", async () => {
    const of = kcbFile().split("=")[1] ?? "";
    const wrong = await closeOctober([equityFile(), `sandbox=${of}`]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.include(
      "statements[1].place must not be sandbox: that is a rail. Another source can be given in form.source",
    );
    const lines = Array.from({ length: 50_001 }, () => ":61:261005C0,NTRFX");
    writeFileSync(path("long.sta"), mt940({ number: "10", lines }));
    const { stderr } = await closeOctober([`KCB 1234=${path("long.sta")}`]);
    expect(stderr).to.include(
      "cannot be compared: It has more than 50000 entries. A month beyond the bounds of a comparison cannot be closed",
    );
  });

  it("is refused while a statement has a break", async () => {
    writeFileSync(path("seal.key"), SEAL_KEY_LINES, { mode: 0o600 });
    await sealBooks(service.opened.cell);
    await figure("KCB 1234", 200_000);
    await figure("Equity 9", 5_000);
    const short = bankFile(
      "KCB 1234",
      (index) => `C2${String(index === 7 ? 1 : 0)},NTRFNONREF//KCB${numbered(index)}`,
      "2001,",
    );
    const { stderr } = await closeOctober([mpesaFile(), short, equityFile()]);
    expect(stderr)
      .to.include("KCB 1234 has 1 breaks: kesc reconcile --place 'KCB 1234' FILE prints the act")
      .and.not.include("mpesa");
  });

  it("is refused before anything is closed if its pack cannot be written", async () => {
    const { code, stderr } = await close([
      ...["Tenant", "--month", "2026-10", "--output", path("none/pack.zip")],
      ...[mpesaFile(), kcbFile(), equityFile()].flatMap((each) => ["--statement", each]),
    ]);
    expect([code, stderr]).to.deep.equal([
      1,
      `${path("none/pack.zip.part")} cannot be created: there is no folder ${path("none")}.\n`,
    ]);
  });

  let pack = "";
  const sha256 = (): string => createHash("sha256").update(readFileSync(pack)).digest("hex");

  it("makes the pack, which anybody can check", async () => {
    const { code, stdout, stderr } = await closeOctober([mpesaFile(), kcbFile(), equityFile()], "--note", "by Fin");
    expect(stderr).to.include("Anybody can check it");
    expect(code, stderr).to.equal(0);
    pack = path(`month-${organizationId}-2026-10.zip`);
    expect(stdout).to.include("Closed 2026-10, up to row 304");
    const key = verifierKeyOf(`${ORIGIN}/${organizationId}`, SEAL_PUBLIC_KEY);
    const checked = await kesc(["close", "--check", pack, "--key", key], {});
    expect(checked.stdout, checked.stderr)
      .to.include("rows 1 to 304")
      .and.include("The key that you trust has signed it.");
    expect(checked.code).to.equal(0);
    const alone = await kesc(["close", "--check", pack], {});
    expect(alone.stdout).to.include("The pack agrees with itself").and.not.include("has signed");
    expect(alone.stderr).to.include("It does not show who made it: the key came from the pack");
    const other = publicBytesOf(generateKeyPairSync("ed25519").publicKey);
    const stranger = await kesc(
      ["close", "--check", pack, "--key", verifierKeyOf(`${ORIGIN}/${organizationId}`, other)],
      {},
    );
    expect(stranger.stdout).to.include("The key has not signed the manifest.");
  });

  it("masks a phone number and an e-mail address in the words of persons", async () => {
    const files = await ZipReader.open(pack);
    const texts = await Promise.all(["reserve.json", "journal.ndjson", "acts.csv"].map((name) => files.text(name)));
    await files.close();
    expect(texts.join("\n")).to.include("opened by 254******678, a***@example.com").and.not.include("0712345678");
    expect(texts[0]).to.include("statement 10, 254******678");
  });

  it("returns the first pack, byte for byte, also after later rows and an erasure", async () => {
    const first = sha256();
    rmSync(pack);
    now = toUnixMillis(now + 86_400_000);
    await commit([
      redeem({ organizationId, accountId, amount: "2957.00", reference: "rest", receipt: "kcb-1234:ALL" }),
    ]);
    await commit([eraseAccount(organizationId, accountId)]);
    const { code, stdout, stderr } = await closeOctober([]);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include("2026-10 was closed at 2026-11-02T06:00:00");
    expect(sha256()).to.equal(first);
  });

  it("refuses to make the pack again once a file differs, names it, and says which release closed the month", async () => {
    const files = [hashedText("journal.csv", "as another release wrote it")];
    const closed = (manifest: object) => ({
      month: valid(parseMonth("2026-09")),
      lastSeq: 1,
      kept: { "manifest.json": JSON.stringify({ files, ...manifest }) },
    });
    await commit([closeMonth(organizationId, { closed: closed({ kesc_version: "0.0.9" }) })]);
    const { code, stderr } = await close(["Tenant", "--month", "2026-09", "--output", folder]);
    expect(code).to.equal(1);
    expect(stderr)
      .to.include("The file journal.csv of the pack is not as it was when kesc 0.0.9 closed 2026-09")
      .and.include("Keep the first pack, or export it with the release that closed the month.");
    expect(readdirSync(folder).filter((name) => name.includes("2026-09"))).to.deep.equal([]);
  });

  it("is a row of the book, and no other role makes it", async () => {
    const vera = await service.operator("Vera", "viewer");
    const refused = await close(["Tenant", "--month", "2026-08", "--output", folder], vera.key);
    expect(refused.stderr).to.include("You lack the role");
    rmSync(pack);
    const exported = await close(["Tenant", "--month", "2026-10", "--output", folder], vera.key);
    expect(exported.stdout, exported.stderr).to.equal(`2026-10 was closed. This is its first pack: ${pack}\n`);
    expect(existsSync(pack)).to.equal(true);
    const list = await service.admin[0].call(Rpcs.listJournal, { types: ["month.closed"] } as never, {
      key: vera.key,
      organization: organizationId,
    });
    expect(list.code, list.message).to.equal(0);
    expect(list.response?.entries.map(({ line }) => [line?.detail, line?.note])).to.deep.equal([
      ["2026-09, up to row 1", undefined],
      ["2026-10, up to row 304", "by Fin"],
    ]);
    expect(existsSync(path("none"))).to.equal(false);
  });
});
