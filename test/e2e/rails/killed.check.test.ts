import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { SimulatorClock } from "../../../daraja/clock.js";
import { type Daraja, startDaraja } from "../../../daraja/simulator.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { accountReferenceOf } from "../../../src/rails/mpesa/stk.js";
import { ENGINES, execute, openDatabaseAt } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { fresh } from "../../support/service/each-engine.js";
import { Service } from "../../support/service/service.js";
import { TcpForwarder } from "../../support/tcp-forwarder.js";
import type { Direction } from "./expectations.js";
import { setMpesa } from "./mpesa-account.js";

const ANSWER_MILLIS = 1_000;
const PAID_MILLIS = 5_000;
const TICK_MILLIS = 100;
/** A server that waits for the lease asks for it every 15 seconds. */
const ENDED_MILLIS_MAX = 40_000;
const CHECKS = 3;

// On PostgreSQL, as if the minute of the killed server were over. On SQLite nobody waits for it.
const EXPIRE_LEASE = "UPDATE leases SET until = 0";
const MAKE_DUE = "UPDATE payments SET due_at = 0 WHERE state = 'SENDING'";

for (const engine of ENGINES) {
  describe(`killed with -9 amid a payment (${engine})`, () => {
    const clock = new SimulatorClock({ standsAtMillis: Date.now() });
    const folder = mkdtempSync(join(tmpdir(), "kesc-killed-"));
    let daraja: Daraja;
    let toRail: TcpForwarder;
    let toGateway: TcpForwarder;
    let variables: Readonly<Record<string, string>>;
    let service: Service;
    let accountId = "";
    let shillings = 100;

    before(async () => {
      daraja = await startDaraja({ clock });
      toRail = await TcpForwarder.start(portOf(daraja.url));
      toGateway = await TcpForwarder.start(0);
      const secretFile = join(folder, "callback.secret");
      writeFileSync(secretFile, "5".repeat(64));
      variables = {
        KESC_CALLBACK_BASE_URL: `http://127.0.0.1:${String(toGateway.port)}`,
        KESC_CALLBACK_SECRET_FILE: secretFile,
        KESC_RAIL_HOSTS: "127.0.0.1",
      };
      service = await Service.start(engine, variables);
      const database = await openDatabaseAt(service.databaseUrl);
      const baseUrl = `http://127.0.0.1:${String(toRail.port)}`;
      const now = toUnixMillis(Date.now());
      await setMpesa(database, { ...service.a, baseUrl, organization: daraja.organization, now });
      await database.close();
      await killAndRestart();
      const created = await service.rest("POST", "/accounts", {
        body: { user_id: "wanjiku", phone_number: "+254700000000" },
      });
      accountId = String(created.json["id"]);
      const id = await order("mint", 10_000);
      await orderedAtRail(id);
      await clock.advance(PAID_MILLIS);
      await ends(id, "completed");
    });
    after(async () => {
      await service.dispose();
      await Promise.all([daraja.close(), toRail.stop(), toGateway.stop()]);
      rmSync(folder, { recursive: true });
    });

    async function killAndRestart(): Promise<void> {
      await service.kill();
      if (engine === "postgres") await inDatabase(EXPIRE_LEASE);
      await service.start();
      toGateway.target = portOf(`http://${service.httpAddress}`);
    }

    /** Lets the service look at what it has begun, as if the waits were over. */
    async function looksUntil(condition: () => Promise<boolean>): Promise<void> {
      const look = async (): Promise<boolean> => {
        await inDatabase(MAKE_DUE);
        await clock.advance(TICK_MILLIS);
        return condition();
      };
      await eventually(look, { millisMax: ENDED_MILLIS_MAX });
    }

    async function inDatabase<Row>(sql: string): Promise<Row[]> {
      const { databaseUrl: url } = service;
      return engine === "sqlite"
        ? execute<Row>({ engine, filename: url.slice("sqlite:".length) }, sql)
        : execute<Row>({ engine, url }, sql);
    }

    // M-Pesa refuses a payer's second payment of an amount within two minutes.
    async function order(direction: Direction, amount = (shillings += 1)): Promise<string> {
      const body = { account_id: accountId, amount, reference: fresh("order"), rail: "mpesa" };
      const reply = await service.rest("POST", `/transactions/${direction}`, { body });
      expect(reply.status, reply.text).to.equal(201);
      return String(reply.json["id"]);
    }

    /** The orders that M-Pesa accepted for the transaction. */
    function ordersOf(id: string): number {
      return daraja.orders.filter((accepted) =>
        accepted.direction === "IN"
          ? accepted.accountReference === accountReferenceOf(id)
          : accepted.originatorConversationId === id,
      ).length;
    }

    async function orderedAtRail(id: string): Promise<void> {
      await eventually(() => ordersOf(id) > 0, { what: () => `M-Pesa has no order of ${id}` });
    }

    async function isIn(id: string, state: string): Promise<boolean> {
      const [row] = await inDatabase<{ state: string }>(`SELECT state FROM payments WHERE transaction_id = '${id}'`);
      return row?.state === state;
    }

    /** Lets M-Pesa's time pass until the transaction has ended so. */
    async function ends(id: string, status: string, from = service): Promise<void> {
      let last: unknown;
      await eventually(
        async () => {
          await clock.advance(TICK_MILLIS);
          const reply = await from.rest("GET", `/transactions/${id}`, { key: service.a.key });
          last = reply.text;
          return reply.json["status"] === status;
        },
        { millisMax: ENDED_MILLIS_MAX, what: () => `not ${status}: ${String(last)}` },
      );
    }

    const orderBoth = async (): Promise<readonly string[]> => [await order("mint"), await order("redeem")];

    /** Orders of which M-Pesa has accepted both, and whose answers wait. */
    async function heldBack(): Promise<readonly string[]> {
      daraja.answerDelayMillis = ANSWER_MILLIS;
      const ids = await orderBoth();
      for (const id of ids) await orderedAtRail(id);
      return ids;
    }

    /** Lets M-Pesa pay, and expects that it had one order for each. */
    async function endOnce(ids: readonly string[], from = service): Promise<void> {
      daraja.answerDelayMillis = 0;
      await clock.advance(PAID_MILLIS);
      for (const id of ids) await ends(id, "completed", from);
      expect(ids.map(ordersOf)).to.deep.equal(ids.map(() => 1));
    }

    it("makes one order of each whose answer the rail holds back", async () => {
      const ids = await heldBack();
      await killAndRestart();
      for (const id of ids) expect(await isIn(id, "SENDING")).to.equal(true);
      await endOnce(ids);
    });

    for (const delayMillis of [0, 1, 3]) {
      it(`makes one order of each, killed ${String(delayMillis)} ms after the answers were written`, async () => {
        const ids = await heldBack();
        await clock.advance(ANSWER_MILLIS);
        if (delayMillis > 0) await sleep(delayMillis);
        await killAndRestart();
        await endOnce(ids);
      });
    }

    it("makes one order of each, killed once the answers are on disk", async () => {
      const ids = await orderBoth();
      for (const id of ids) await eventually(() => isIn(id, "ACCEPTED"));
      await killAndRestart();
      await endOnce(ids);
    });

    if (engine === "postgres") {
      it("lets the other server end what the killed one has begun, with one order of each", async () => {
        const other = await Service.start(engine, { ...variables, DATABASE_URL: service.databaseUrl });
        try {
          const ids = await heldBack();
          await service.kill();
          await inDatabase(EXPIRE_LEASE);
          toGateway.target = portOf(`http://${other.httpAddress}`);
          await endOnce(ids, other);
        } finally {
          await other.dispose();
          await killAndRestart();
        }
      });
    }

    it("sends again what was begun and never reached the rail: a redemption, and no mint", async () => {
      toRail.silence();
      const [mint = "", redemption = ""] = await orderBoth();
      for (const id of [mint, redemption]) await eventually(() => isIn(id, "SENDING"));
      await killAndRestart();
      toRail.resume();
      expect([ordersOf(mint), ordersOf(redemption)]).to.deep.equal([0, 0]);
      // The first look asks, and a later one sends: only then has a query had its time.
      await looksUntil(() => Promise.resolve(ordersOf(redemption) > 0));
      await endOnce([redemption]);
      // The payer could pay two prompts, so a mint waits for a person.
      await looksUntil(async () => {
        const { json } = await service.rest("GET", `/transactions/${mint}/payment`);
        return Number(json["check_count"]) >= CHECKS;
      });
      expect(ordersOf(mint)).to.equal(0);
      expect((await service.rest("GET", `/transactions/${mint}`)).json).to.include({ status: "processing" });
    });

    it("has the reserve that M-Pesa moved, no order twice, and books that hold", async () => {
      const cents = daraja.receipts.reduce(
        (sum, receipt) => sum + (receipt.direction === "IN" ? 1 : -1) * receipt.amountCents,
        0,
      );
      const [book] = await inDatabase<{ reserve: number; held: number }>(
        `SELECT reserve_cents AS reserve, held_cents + shortfall_cents + unallocated_cents AS held
         FROM books WHERE organization_id = '${service.a.organizationId}'`,
      );
      expect({ reserve: Number(book?.reserve), held: Number(book?.held) }).to.deep.equal({ reserve: cents, held: 0 });
      const names = daraja.orders.map((each) =>
        each.direction === "IN" ? each.accountReference : each.originatorConversationId,
      );
      expect(new Set(names).size).to.equal(names.length);
      const { code, stdout, stderr } = await service.kesc("verify", "--full-speed");
      expect(code, stdout + stderr).to.equal(0);
    });
  });
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
