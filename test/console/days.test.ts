import { expect } from "chai";
import { renderToString } from "preact-render-to-string";

import type { Visit } from "../../console/page.js";
import { daysPage } from "../../console/pages/days.js";
import { PastReads } from "../../console/upstream/past-reads.js";
import type { CallContext, Reading, Upstream } from "../../console/upstream/upstream.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { exportJournal } from "../../src/statements/exports.js";
import { Random } from "../attack/random.js";
import { historyOf, RandomHistory } from "../statements/random-history.js";
import { ask, shownCents } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const DAY_MILLIS = 86_400_000;
const AHEAD_MILLIS = 3 * 3_600_000;
const CONTEXT = { token: "one", requestId: "1", organizationId: "org_1" };
const REFUSAL = { code: 8, reason: "QUEUE_FULL", text: "Too many lists.", advice: undefined } as const;

/** Returns the cells of each row of the tables that a page has after a heading. */
function rowsAfter(html: string, heading: string): readonly (readonly string[])[] {
  const [part = ""] = html.slice(html.indexOf(`<h2>${heading}</h2>`)).split("</section>");
  return [...part.matchAll(/<tr>(.*?)<\/tr>/g)]
    .map(([, row = ""]) => [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = ""]) => textOf(cell)))
    .filter((cells) => cells.length > 0);
}

function textOf(html: string): string {
  return html.replaceAll(/<[^>]*>/g, "");
}

/** What the exported rows of a book say after one of them. */
interface Derived {
  readonly seq: number;
  readonly time: number;
  readonly available: bigint;
  readonly held: bigint;
  readonly minted: bigint;
  readonly redeemed: bigint;
}

const NOTHING: Derived = { seq: 0, time: 0, available: 0n, held: 0n, minted: 0n, redeemed: 0n };

describe("the past in the console", () => {
  let service: ConsoleService;
  let made: RandomHistory;
  let derived: readonly Derived[];
  before(async function () {
    this.timeout(60_000);
    service = await startConsoleService();
    const { database } = service.running;
    const given = { seed: 29, start: Date.now() - 41 * DAY_MILLIS, stepMillis: 0.9 * DAY_MILLIS, accounts: 8 };
    made = await RandomHistory.make(database, { ...given, batches: 44 });
    const { history } = historyOf(database, made.organizationId);
    const rows: Derived[] = [];
    const period = { start: toUnixMillis(1), end: toUnixMillis(Date.now()) };
    for await (const lines of exportJournal(history, period)) {
      for (const { seq, recordedAt, debit, credit, amountCents = 0 } of lines) {
        const last = rows.at(-1) ?? NOTHING;
        const sideOf = (account: string): bigint =>
          BigInt((credit === account ? amountCents : 0) - (debit === account ? amountCents : 0));
        const into = sideOf("available") + sideOf("held");
        rows.push({
          seq,
          time: recordedAt,
          available: last.available + sideOf("available"),
          held: last.held + sideOf("held"),
          minted: last.minted + (into > 0n ? into : 0n),
          redeemed: last.redeemed - (into < 0n ? into : 0n),
        });
      }
    }
    derived = rows;
  });
  after(() => service.dispose());

  const page = async (path: string): Promise<string> => {
    const { status, html } = await ask(service.origin, path, { token: service.keys.amina });
    expect(status, path).to.equal(200);
    return html;
  };
  const upTo = (millis: number): Derived => derived.findLast(({ time }) => time < millis) ?? NOTHING;

  it("each day of the charts is what the exported journal says", async () => {
    const html = await page(`/${made.organizationId}/supply/days`);
    const today = Math.floor((Date.now() - 120_000 + AHEAD_MILLIS) / DAY_MILLIS) * DAY_MILLIS - AHEAD_MILLIS;
    const expected = Array.from({ length: 30 }, (_, index) => {
      const [start, end] = [upTo(today - index * DAY_MILLIS), upTo(today - (index - 1) * DAY_MILLIS)];
      const circulating = shownCents(end.available + end.held);
      return [
        circulating,
        circulating,
        shownCents(end.minted - start.minted),
        shownCents(end.redeemed - start.redeemed),
      ];
    });
    const [circulation, turnover] = ["In circulation and reserve", "Minted and redeemed"].map((heading) =>
      rowsAfter(html, heading),
    );
    const found = circulation?.map(([, ...amounts], index) => [...amounts, ...(turnover?.[index]?.slice(1) ?? [])]);
    expect(found).to.deep.equal(expected);
    expect(new Set(expected.map(([circulating]) => circulating)).size).to.be.greaterThan(20);
    expect(html).to.include('<path class="line-2" d="M').and.not.include("unknown");
  });

  it("the supply after a row is what the exported journal says", async () => {
    const random = new Random(31);
    for (let round = 0; round < 10; round++) {
      const { seq, available, held } = random.pick(derived);
      const html = await page(`/${made.organizationId}/supply?as_of=row-${String(seq)}`);
      const amounts = rowsAfter(html, "What the book says").map(([, amount]) => amount);
      const [sum, none] = [shownCents(available + held), "0.00"];
      expect(amounts, `row ${String(seq)}`).to.deep.equal([
        ...[sum, none, none, sum],
        ...[shownCents(available), shownCents(held), none, sum],
      ]);
      expect(textOf(html)).to.include(`Up to row #${seq.toLocaleString("en")}`);
    }
  });

  it("a page of the past shows what was seen then", async () => {
    const { client, demo } = service;
    const { account } = await client.accounts.createAccount({ user_id: "past", phone_number: "+254712001917" });
    const account_id = account.id;
    const given = (index: number) => ({
      account_id,
      amount: `${String(index)}00.00`,
      reference: `past-${String(index)}`,
    });
    const steps: readonly (() => Promise<unknown>)[] = [
      () => client.transactions.mint({ ...given(9), rail: "direct" }),
      () => client.transactions.redeem({ ...given(2), rail: "direct" }),
      // By the ending of the phone number it stays pending: docs/sandbox.md.
      () => client.transactions.redeem({ ...given(3), rail: "sandbox" }),
      () => client.accounts.freezeAccount({ account_id, reason: "fraud", note: "x" }),
      () => client.accounts.createAccount({ user_id: "another", phone_number: "+254712001901" }),
    ];
    const own = `/${demo.organizationId}`;
    const look = async (asOf: string): Promise<{ readonly seq: string; readonly seen: unknown }> => {
      const supply = await page(`${own}/supply${asOf}`);
      const shownAccount = await page(`${own}/accounts/${account_id}${asOf}`);
      const head = /<h1>(.*?)<ul class="figures">(.*?)<\/ul>/.exec(shownAccount)?.slice(1).map(textOf);
      const [, seq = ""] = /Up to row #([0-9,]+)/.exec(textOf(supply)) ?? [];
      const sentence = /Up to row .*? KESC\./.exec(textOf(supply))?.[0];
      return { seq: seq.replaceAll(",", ""), seen: { head, sentence, sums: rowsAfter(supply, "What the book says") } };
    };
    const seen: Awaited<ReturnType<typeof look>>[] = [];
    for (const step of steps) {
      await step();
      seen.push(await look(""));
    }
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).to.equal(steps.length);
    for (const { seq, seen: then } of seen) {
      expect((await look(`?as_of=row-${seq}`)).seen, `row ${seq}`).to.deep.equal(then);
    }
  });

  it("a day whose read failed is unknown, and never zero", async () => {
    let reads = 0;
    const supply = { in_circulation: "5.00", reserve: "5.00", minted: "7.00", redeemed: "2.00", backing: null };
    const visit = {
      path: "/org_1/supply/days",
      organization: { id: "org_1" },
      readPast: () => {
        reads += 1;
        return Promise.resolve(reads === 10 ? { ok: false, refusal: REFUSAL } : { ok: true, value: { supply } });
      },
      read: () => Promise.resolve({ ok: false, refusal: REFUSAL }),
    } as unknown as Visit;
    const view = await daysPage.show(visit);
    if (view === undefined || !("body" in view)) throw new Error("there is no page");
    const html = renderToString(view.body);
    expect(reads).to.equal(31);
    const unknown = (heading: string): number =>
      rowsAfter(html, heading).filter((cells) => cells.includes("unknown")).length;
    // The point ends one day and begins the next.
    expect([unknown("In circulation and reserve"), unknown("Minted and redeemed")]).to.deep.equal([1, 2]);
    expect(textOf(html))
      .to.include("Too many lists.")
      .and.include("1 of 31 points could not be read")
      .and.include("recorded is unknown")
      .and.include("In these days unknown KESC entered");
    const [line] = /class="line-1" d="(M[^"]+)"/.exec(html.slice(html.indexOf('role="img"'))) ?? [];
    expect(line?.match(/M/g)).to.have.length(2);
  });

  it("a reading of the past is kept for its session, and a refusal is not", async () => {
    const asked: string[] = [];
    const past = new PastReads();
    const upstream: Upstream["read"] = <T>(_rpc: string, fields: object, { token }: CallContext) => {
      asked.push(`${String(token)} ${JSON.stringify(fields)}`);
      const reading = asked.length === 1 ? { ok: false, refusal: REFUSAL } : { ok: true, value: asked.length };
      return Promise.resolve(reading as Reading<T>);
    };
    const read = (seq: number, token: string) =>
      past.read(upstream, "BookService/GetSupply", { seq }, { ...CONTEXT, token });
    expect(await read(1, "one")).to.deep.equal({ ok: false, refusal: REFUSAL });
    const [first, again] = await Promise.all([read(1, "one"), read(1, "one")]);
    expect(first).to.equal(again);
    await read(2, "one");
    await read(1, "two");
    await read(1, "two");
    expect(asked).to.deep.equal(['one {"seq":1}', 'one {"seq":1}', 'one {"seq":2}', 'two {"seq":1}']);
  });
});
