import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { eventually } from "../support/eventually.js";
import { sharedPostgres } from "../support/postgres.js";
import { migrateCells } from "../support/postgres/cells.js";
import { newAccount } from "../support/service/each-engine.js";
import { RunningKesc } from "../support/service/kesc.js";
import { Service } from "../support/service/service.js";
import { Receiver } from "../support/webhooks/receiver.js";

const RETRY_MILLIS = 20;
const MINTS_BEFORE = 3_000;

interface BookJson {
  readonly organization_id: string;
  readonly cell: number;
  readonly state: string;
  readonly phase: string | null;
  readonly last_sequence: string;
}

describe("an organization that moves to another cell, under load from clients that retry", () => {
  let first: Service;
  let second: Service;
  let receiver: Receiver;
  let folder: string;
  let isOver = false;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-move-"));
    const url = await (await sharedPostgres()).createDatabase();
    await migrateCells(url, 2);
    receiver = await Receiver.start();
    const given = { DATABASE_URL: url, KESC_WEBHOOKS_ALLOW: "127.0.0.1" };
    first = await Service.start("postgres", given);
    second = await Service.start("postgres", given);
  });
  after(async () => {
    isOver = true;
    await second.dispose();
    await first.dispose();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The books of organization A, in the order of the cells. */
  async function books(): Promise<readonly BookJson[]> {
    const { stdout } = await first.kesc("book", "list", "--json");
    const all = JSON.parse(stdout) as readonly BookJson[];
    return all.filter((book) => book.organization_id === first.a.organizationId);
  }
  const states = async (): Promise<string[]> => (await books()).map(({ state, phase }) => `${state} ${phase ?? "-"}`);

  async function run(...args: string[]): Promise<void> {
    const { code, stdout, stderr } = await first.kesc(...args);
    expect(code, stdout + stderr).to.equal(0);
  }

  /** Runs a command, and kills it as soon as `when` resolves. */
  async function killed(args: readonly string[], when: (running: RunningKesc) => Promise<unknown>): Promise<void> {
    const running = new RunningKesc(args, first.variables, { ownGroup: true });
    await when(running);
    await running.killGroup();
  }

  it("loses no acknowledged mint, doubles none, and goes on with its keys, cursors, tokens and webhooks", async () => {
    const { organizationId, key } = first.a;
    const accountId = await newAccount(first);
    const created = await first.rest("POST", "/webhook-endpoints", { body: { url: receiver.url } });
    expect(created.status, created.text).to.equal(201);
    const many = Array.from({ length: MINTS_BEFORE }, (_, index) => ({
      mint: { account_id: accountId, amount: "1.00", reference: `before-${String(index)}` },
    }));
    for (let at = 0; at < many.length; at += 500) {
      const { code } = await first.grpc.call("BatchCreateTransactions", { requests: many.slice(at, at + 500) });
      expect(code).to.equal(0);
    }

    const acknowledged = new Map<string, string>();
    const words = new Set<string>();
    const minting = async ({ grpc }: Service, name: string): Promise<void> => {
      for (let index = 0; !isOver; index += 1) {
        const reference = `${name}-${String(index)}`;
        for (;;) {
          const mint = { account_id: accountId, amount: "1.00", reference };
          const { code, reason, response } = await grpc.call("Mint", mint, { key });
          if (code === 0) {
            acknowledged.set(reference, (response["transaction"] as { id: string }).id);
            break;
          }
          words.add(reason ?? `status ${String(code)}`);
          await sleep(RETRY_MILLIS);
        }
      }
    };
    const clients = [minting(first, "first"), minting(second, "second")];
    await eventually(() => acknowledged.size > 50, { millisMax: 30_000 });
    const page = await first.rest("GET", "/transactions?page_size=10");
    const cursor = Number((await first.rest("GET", "/events?page_size=1")).json["latest_sequence"]);

    const file = join(folder, "book.ndjson");
    await run("book", "export", organizationId, file, "--yes");
    expect(await states()).to.deep.equal(["moving leaving"]);
    const head = Number((await books())[0]?.last_sequence);
    const read = await second.grpc.call("GetAccount", { account_id: accountId }, { key });
    expect(read.code).to.equal(0);

    await killed(["book", "import", file, "--cell", "1"], (running) => running.said(" rows"));
    expect(await states()).to.deep.equal(["moving leaving", "moving copying"]);
    await run("book", "import", file, "--cell", "1", "--full-speed");
    expect(await states()).to.deep.equal(["moving leaving", "moving copied"]);

    // The book has left its old cell, and is not open in the new one.
    await killed(["book", "activate", organizationId, "--yes"], () =>
      eventually(async () => (await states())[0] === "moved left", { millisMax: 30_000 }),
    );
    expect(await states()).to.deep.equal(["moved left", "moving copied"]);
    const between = acknowledged.size;
    expect((await first.kesc("book", "resume", organizationId)).stderr).to.match(/MOVED \(LEFT\)/);
    await run("book", "activate", organizationId, "--yes");
    expect(await states()).to.deep.equal(["moved left", "open -"]);
    await eventually(() => acknowledged.size > between + 50, { millisMax: 30_000 });
    isOver = true;
    await Promise.all(clients);
    expect([...words]).to.deep.equal(["BOOK_MOVING"]);

    const balance = (await first.rest("GET", `/accounts/${accountId}`)).text;
    const total = MINTS_BEFORE + acknowledged.size;
    expect(balance).to.contain(`"available_balance":${String(total)}.00`);
    for (const [reference, id] of acknowledged) {
      const mint = { account_id: accountId, amount: "1.00", reference };
      const again = await second.grpc.call("Mint", mint, { key });
      expect((again.response["transaction"] as { id: string }).id, reference).to.equal(id);
    }
    expect((await first.rest("GET", `/accounts/${accountId}`)).text).to.equal(balance);

    const token = String(page.json["next_page_token"]);
    const next = await first.rest("GET", `/transactions?page_size=10&page_token=${encodeURIComponent(token)}`);
    expect(next.status, next.text).to.equal(200);
    const events = await first.rest("GET", `/events?page_size=100&after_sequence=${String(cursor)}`);
    const [event] = events.json["events"] as readonly { readonly sequence: number }[];
    expect(Number(event?.sequence)).to.equal(cursor + 1);

    const lastSeq = Number((await books())[1]?.last_sequence);
    const after = (): readonly number[] =>
      receiver.sequences.filter((sequence) => sequence > head).sort((left, right) => left - right);
    // Deliveries run side by side, so the last event may arrive before others.
    await eventually(() => after().length >= lastSeq - head, { millisMax: 60_000 });
    expect(after()).to.deep.equal(Array.from({ length: lastSeq - head }, (_, index) => head + 1 + index));
    await run("verify", "--full-speed");
  }).timeout(240_000);
});
