import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";
import { pino } from "pino";

import { type RunningConsole, startConsole } from "../../console/server.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { checkPack } from "../../src/months/check-pack.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "../operators/given.js";
import { mt940 } from "../support/bank-files.js";
import { commitAll } from "../support/commit.js";
import { newAccountId } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { recordReserve } from "../support/operations/book.js";
import { mint } from "../support/operations/transactions.js";
import { freePort } from "../support/postgres-node.js";
import { SEAL_PUBLIC_KEY, sealBooks } from "../support/seals/given-seals.js";
import { ask, formTokenIn, textOf } from "./browser-like.js";

const SEAL_KEY_LINES = `secret ${Buffer.alloc(32, "seal").toString("base64url")}\n`;
const PLACES = ["KCB 1", "Amina's bank"] as const;

/** A moment in Kenya. */
const at = (text: string): UnixMillis => toUnixMillis(Date.parse(`${text}+03:00`));

describe("the closing of a month in the console", () => {
  let service: OperatorService;
  let fin: GivenOperator;
  let vera: GivenOperator;
  let running: RunningConsole;
  let folder: string;
  let origin: string;
  let path: string;
  let now = at("2026-10-05T09:00:00");
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-close-"));
    const environment = { KESC_SEAL_KEY_FILE: join(folder, "seal.key"), KESC_SEAL_ORIGIN: "kesc.example.com" };
    service = await startOperatorService("sqlite", { now: () => now, environment });
    [fin, vera] = [await service.operator("Fin", "finance"), await service.operator("Vera", "viewer")];
    const [{ operatorAddress: target = "" }] = service.servers;
    const port = await freePort();
    origin = `http://localhost:${String(port)}`;
    const options = { target, origin, shutdownGraceSeconds: 1, tls: undefined, clientTls: undefined };
    running = await startConsole({ ...options, listen: { host: "127.0.0.1", port } }, pino({ level: "silent" }), {
      readMillisMax: 30_000,
    });
    const { organizationId } = service.tenant;
    path = `/${organizationId}/month`;
    const accountId = newAccountId();
    const figure = { amountCents: toCents(0), asOfDay: "2026-10-01" as NairobiDay, kind: "bank_kenya" } as const;
    await commit([
      createAccount(organizationId, "amina", { newAccountId: accountId }),
      mint({ organizationId, accountId, amount: "10.00", reference: "m1", receipt: "kcb-1:FT1" }),
      ...PLACES.map((place) => recordReserve(organizationId, place, { ...figure, evidence: "opened" })),
    ]);
    now = at("2026-11-02T09:00:00");
  });
  after(async () => {
    await running.stop();
    await service.dispose();
    rmSync(folder, { recursive: true });
  });

  const commit = (commands: Parameters<typeof commitAll>[1]): Promise<void> =>
    commitAll(service.opened.cell, commands, now);
  const show = (query: string, token = fin.key) => ask(origin, path + query, { token });
  const statement = (day: string, amount: string): string => {
    const line = `:61:261005C${amount}NTRFNONREF//FT1`;
    return mt940({ number: "10", opening: "C261001KES0,", lines: [line], closing: `C${day}KES${amount}` });
  };
  const empty = mt940({ number: "10", opening: "C261001KES0,", closing: "C261031KES0," });

  /** Sends the form of the page, with a file for each place: none if its text is empty. */
  async function close(texts: readonly string[], month = "2026-10") {
    // A month that is over and open has the form.
    const { html } = await show("?month=2026-09");
    const places = Object.fromEntries(PLACES.map((place, index) => [`place_${String(index)}`, place]));
    const file = texts.map((text, index) => ({
      field: `file_${String(index)}`,
      text,
      name: text === "" ? "" : "october.sta",
    }));
    const form = { form_token: formTokenIn(html, path), month, note: "by Fin", ...places };
    const sent = await ask(origin, path, { token: fin.key, form, file });
    return { ...sent, text: textOf(sent.html) };
  }

  it("is offered once the month is over, with a file for each bank, to those who may", async () => {
    const { html } = await show("?month=2026-10");
    expect(textOf(html)).to.include("Nobody has closed this month.").and.include("Close the month");
    for (const place of PLACES) expect(textOf(html)).to.include(`Statement of ${place}`);
    expect(html.match(/type="file"/g)).to.have.length(2);
    expect(textOf((await show("?month=2026-10", vera.key)).html)).to.not.include("Close the month");
    expect(textOf((await show("?month=2199-01")).html)).to.not.include("The pack");
  });

  it("names all that keeps it open, each with the form that ends it", async () => {
    const { status, text, html } = await close([statement("261030", "10,"), ""]);
    expect(status).to.equal(400);
    expect(text)
      .to.include("Not closed: 2026-10")
      .and.include("there is no seal key: run kesc seal rotate, and restart the servers.")
      .and.include("Amina's bank has no statement: choose its file below.")
      .and.match(/KCB 1 has no figure for 2026-10-31 ?\. Record its balance/)
      .and.match(/the statement of KCB 1 ends on 2026-10-30: export it up to 2026-10-31 or later/);
    for (const place of PLACES) {
      const act = `${path.replace("/month", "/acts/reserve")}?place=${encodeURIComponent(place)}`;
      expect(html).to.include(`href="${act}&amp;as_of_day=2026-10-31&amp;kind=bank_kenya"`);
    }
  });

  it("links a balance that differs with its amount, and a break with the comparison", async () => {
    const { organizationId } = service.tenant;
    const figure = { amountCents: toCents(900), asOfDay: "2026-10-31" as NairobiDay, kind: "bank_kenya" } as const;
    await commit([recordReserve(organizationId, "KCB 1", { ...figure, evidence: "statement 10" })]);
    const { html, text } = await close([statement("261031", "11,"), empty]);
    expect(html).to.include(
      "/acts/reserve?place=KCB%201&amp;as_of_day=2026-10-31&amp;kind=bank_kenya&amp;amount=11.00",
    );
    expect(text).to.match(/KCB 1 has 1 breaks ?\. Compare the statement/);
  });

  it("refuses a month that is none, and another month's pack", async () => {
    expect((await close([], "2026-13")).text).to.include("month must be a month such as 2026-10");
    const none = await show(".zip?month=2026-09");
    expect(none.status).to.equal(400);
    expect(textOf(none.html)).to.include("Nobody has closed the month 2026-09.");
  });

  it("is done once: then the page has the pack, also for those who only read", async () => {
    writeFileSync(join(folder, "seal.key"), SEAL_KEY_LINES, { mode: 0o600 });
    const { organizationId } = service.tenant;
    const figures = PLACES.map((place, index) => {
      const amountCents = toCents(index === 0 ? 1_000 : 0);
      const given = { amountCents, asOfDay: "2026-10-31" as NairobiDay, kind: "bank_kenya" } as const;
      return recordReserve(organizationId, place, { ...given, evidence: "statement 10" });
    });
    await commit(figures);
    await sealBooks(service.opened.cell);
    const closed = await close([statement("261031", "10,"), empty]);
    expect(closed.text, closed.text).to.include("2026-10 is closed");
    expect(closed.status).to.equal(200);
    const { text } = await close([]);
    expect(text).to.include("2026-10 was closed before").and.include("Nothing was compared or changed now.");
    const shown = textOf((await show("?month=2026-10", vera.key)).html);
    expect(shown).to.include("Download the pack").and.include("By Fin").and.not.include("Nobody has closed");
    const file = join(folder, "pack.zip");
    const downloaded = await show(".zip?month=2026-10", vera.key);
    expect(downloaded.headers["content-type"]).to.equal("application/zip");
    expect(downloaded.headers["content-disposition"]).to.include(`month-${organizationId}-2026-10.zip`);
    writeFileSync(file, downloaded.bytes);
    expect((await checkPack(file, [SEAL_PUBLIC_KEY])).problems).to.deep.equal([]);
  });
});
