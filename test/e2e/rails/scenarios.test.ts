import { expect } from "chai";

import { COLLECT, PAY_OUT } from "../../../daraja/mpesa/scenarios.js";
import type { RestReply } from "../../support/callers/rest-caller.js";
import { tableUnder } from "../../support/documents/table.js";
import { byStage } from "../../support/stage.js";
import { booksOf, type Direction, EXPECTATIONS, FUNDS_CENTS, ORDER_CENTS, tableRows } from "./expectations.js";
import { type Business, RailWorld } from "./world.js";

const MINUTE_MILLIS = 60_000;
/** Longer than the service waits before it hands an unknown outcome to a person. */
const TO_THE_END_MILLIS = 100 * 60 * MINUTE_MILLIS;

const SCENARIOS = { mint: COLLECT, redeem: PAY_OUT } as const;

interface Case {
  readonly direction: Direction;
  readonly ending: string;
}

const CASES: readonly Case[] = (["mint", "redeem"] as const).flatMap((direction) =>
  Object.keys(SCENARIOS[direction])
    .sort()
    .map((ending) => ({ direction, ending })),
);

// Where the settlement's own statements differ most: late money, lost answers, forged messages.
const POSTGRES_ENDINGS = ["00", "08", "12", "18"];

interface Transaction {
  readonly id: string;
  readonly status: string;
  readonly failure: { readonly reason: string } | null;
  readonly rail_receipt: string | null;
  readonly needs_attention: boolean;
  readonly corrects_transaction_id: string | null;
  readonly correction: string | null;
  readonly amount: number;
}

interface Payment {
  readonly state: string;
  readonly sends: number;
  readonly open_flags: readonly string[];
}

/** One order of one business. */
class Run {
  #accountId = "";
  #transactionId = "";

  constructor(
    readonly world: RailWorld,
    readonly business: Business,
    readonly given: Case & { readonly index: number },
  ) {}

  /** Opens the account whose phone number chooses the scenario, with what it will redeem. */
  async prepare(): Promise<void> {
    const { direction, ending, index } = this.given;
    const numberOf = (last: string): string => `+2547${String(index).padStart(6, "0")}${last}`;
    const account = await this.#post("/accounts", { user_id: "wanjiku", phone_number: numberOf(ending) });
    this.#accountId = String(account.json["id"]);
    if (direction === "mint") return;
    const funds = { account_id: this.#accountId, amount: FUNDS_CENTS / 100, reference: "funds" };
    await this.#post("/transactions/mint", { ...funds, payer_phone_number: numberOf("99") });
  }

  async order(): Promise<void> {
    const body = { account_id: this.#accountId, amount: ORDER_CENTS / 100, reference: "order" };
    const reply = await this.#post(`/transactions/${this.given.direction}`, body);
    expect(reply.json).to.include({ status: "pending", rail: "mpesa" });
    this.#transactionId = String(reply.json["id"]);
  }

  transaction(): Promise<Transaction> {
    return this.#get(`/transactions/${this.#transactionId}`);
  }

  payment(): Promise<Payment> {
    return this.#get(`/transactions/${this.#transactionId}/payment`);
  }

  async corrections(): Promise<readonly Transaction[]> {
    const { transactions } = await this.#get<{ transactions: readonly Transaction[] }>("/transactions");
    return transactions.filter(({ corrects_transaction_id: id }) => id === this.#transactionId);
  }

  async #post(path: string, body: object): Promise<RestReply> {
    const reply = await this.world.rest.send("POST", path, { key: this.business.key, body });
    expect(reply.status, reply.text).to.equal(201);
    return reply;
  }

  async #get<Resource>(path: string): Promise<Resource> {
    const reply = await this.world.rest.send("GET", path, { key: this.business.key });
    expect(reply.status, reply.text).to.equal(200);
    return reply.json as Resource;
  }
}

const ALTERNATING = ["sqlite", CASES, "alternating"] as const;

for (const [engine, cases, messageForms] of [
  ["sqlite", CASES, "one"],
  ["postgres", CASES.filter(({ ending }) => POSTGRES_ENDINGS.includes(ending)), "alternating"],
  ...byStage<readonly (typeof ALTERNATING)[]>({ test: [], check: [ALTERNATING] }),
] as const) {
  describe(`what becomes of each scenario of M-Pesa (${engine}, forms: ${messageForms})`, () => {
    let world: RailWorld;
    let runs: readonly Run[] = [];

    before(async () => {
      world = await RailWorld.start(engine, cases.length, { messageForms });
      runs = cases.map((given, index) => new Run(world, world.business(index), { ...given, index }));
      for (const run of runs) await run.prepare();
      await world.pass(MINUTE_MILLIS);
      for (const run of runs) await run.order();
      await world.pass(TO_THE_END_MILLIS);
    });
    after(() => world.dispose());

    for (const [index, { direction, ending }] of cases.entries()) {
      const words = SCENARIOS[direction][ending]?.words ?? "";
      it(`${direction} ${ending}: ${words}`, async () => {
        const run = runs[index];
        const expected = EXPECTATIONS[direction][ending];
        if (run === undefined || expected === undefined) throw new Error(`nothing is expected of ${ending}`);
        const { status, failure, receipt, late, flags = [], sends = 1 } = expected;
        const state = status === "processing" ? "accepted" : "ended";
        const moved = world.movedFor(run.business).filter(({ order }) => order?.msisdn.endsWith(ending));
        const transaction = await run.transaction();
        expect(transaction.status).to.equal(status);
        expect(transaction.failure?.reason).to.equal(failure?.toLowerCase());
        expect(transaction.needs_attention).to.equal(flags.length > 0);
        const receipts = moved.map(({ number }) => number);
        expect(receipts).to.have.lengthOf(status === "completed" || late === true ? 1 : 0);
        const isShown = status === "completed" && receipt !== "none";
        expect(transaction.rail_receipt).to.equal(isShown ? receipts[0] : null);

        const corrections = await run.corrections();
        expect(corrections.map((each) => [each.correction, each.status, each.rail_receipt])).to.deep.equal(
          late === true ? [["late", "completed", receipts[0]]] : [],
        );
        expect(await run.payment()).to.deep.include({ state, send_count: sends, open_flags: flags });
        expect(await world.book(run.business)).to.deep.equal(booksOf(direction, expected));
      });
    }

    it("has in each reserve what came in less what went out", async () => {
      for (const { business } of runs) {
        const cents = world.movedFor(business).map((each) => (each.direction === "IN" ? 1 : -1) * each.amountCents);
        const { reserve } = await world.book(business);
        expect(reserve, business.shortcode).to.equal(cents.reduce((sum, each) => sum + each, 0));
      }
    });

    it("has no order at the rail twice", () => {
      for (const { business, given } of runs) {
        const numbers = world.ordersOf(business).map(({ msisdn }) => msisdn);
        const { orders = 1 } = EXPECTATIONS[given.direction][given.ending] ?? {};
        expect(numbers, given.ending).to.have.lengthOf(orders + (given.direction === "mint" ? 0 : 1));
        expect(new Set(numbers).size, given.ending).to.equal(numbers.length);
      }
    });

    it("has books in which verify finds nothing", async () => {
      expect(await world.findings()).to.deep.equal([]);
    });
  });
}

describe("the table of what becomes of each scenario", () => {
  it("has a row for each scenario of the simulator", () => {
    for (const direction of ["mint", "redeem"] as const) {
      expect(Object.keys(EXPECTATIONS[direction])).to.have.members(Object.keys(SCENARIOS[direction]));
    }
  });

  it("stands in docs/mpesa.md", () => {
    expect(tableUnder("## What becomes of each scenario", "docs/mpesa.md")).to.deep.equal(tableRows());
  });
});
