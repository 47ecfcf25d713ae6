import { expect } from "chai";

import { StoreError } from "../../src/ledger/ports/store.js";
import type { ReceiverAnswer } from "../../src/webhooks/ports/delivery.js";
import { databaseOfSuite, ENGINES_OF_STAGE, execute } from "../support/databases.js";
import { Book, Loop, type Sent } from "./given-loop.js";

const SECOND_MILLIS = 1_000;

function urlsOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `https://${name}.example/${String(index)}`);
}

/** The most that began in any second. */
function mostInASecond(sent: readonly Sent[]): number {
  return Math.max(
    ...sent.map((first) => sent.filter(({ at }) => at >= first.at && at < first.at + SECOND_MILLIS).length),
  );
}

function sentTo(loop: Loop, name: string): readonly Sent[] {
  return loop.sent.filter(({ url }) => url.startsWith(`https://${name}.example/`));
}

function idsOf(...loops: readonly Loop[]): Set<string> {
  return new Set(loops.flatMap(({ sent }) => sent.map(({ id }) => id)));
}

const held = (): Promise<ReceiverAnswer> => new Promise(() => undefined);

for (const engine of ENGINES_OF_STAGE) {
  describe(`the deliveries on a database, by a clock of the test (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let organizations = 0;

    // The endpoints of a test must not take part in the next one.
    afterEach(() => execute(opened.address, "UPDATE webhook_endpoints SET status = 'PAUSED'"));

    async function bookWith(events: number, ...urls: readonly string[]): Promise<Book> {
      const book = await Book.make(opened, `organization-${String((organizations += 1))}`);
      for (const url of urls) await book.endpoint(url);
      await book.mint(events);
      return book;
    }

    async function setState({ organizationId }: Book, state: string): Promise<void> {
      await execute(opened.address, `UPDATE books SET state = '${state}' WHERE organization_id = '${organizationId}'`);
    }

    it("go on beside an endpoint whose row cannot be read, which is reported once", async () => {
      const broken = await bookWith(3, ...urlsOf("broken", 1));
      await bookWith(3, ...urlsOf("sound", 1));
      const change = `UPDATE webhook_endpoints SET url = secrets WHERE organization_id = '${broken.organizationId}'`;
      await execute(opened.address, change);
      const loop = Loop.start(opened.cell);
      const error: unknown = await loop.run(SECOND_MILLIS).catch((thrown: unknown) => thrown);
      expect(String(error instanceof StoreError && error.cause)).to.match(
        /the webhook endpoint whe_\w+ cannot be read/,
      );
      loop.errors.length = 0;
      await loop.run(60 * SECOND_MILLIS);
      expect(loop.errors).to.deep.equal([]);
      expect(sentTo(loop, "sound")).to.have.lengthOf(3);
      expect(sentTo(loop, "broken")).to.deep.equal([]);
    });

    it("begin at most 200 a second at one endpoint", async () => {
      await bookWith(700, ...urlsOf("one", 1));
      const loop = Loop.start(opened.cell);
      await loop.run(5 * SECOND_MILLIS);
      expect(idsOf(loop).size).to.equal(700);
      expect(loop.sent).to.have.lengthOf(700);
      // A page of 64 events fills six ticks and a part of the seventh.
      expect(mostInASecond(loop.sent)).to.be.within(150, 200);
    });

    it("begin at most 500 a second in a cell, shared by organizations", async () => {
      for (const name of ["a", "b", "c", "d"]) await bookWith(400, ...urlsOf(name, 1));
      const loop = Loop.start(opened.cell);
      await loop.run(5 * SECOND_MILLIS);
      expect(loop.sent).to.have.lengthOf(1_600);
      expect(mostInASecond(loop.sent)).to.be.within(450, 500);
      const [{ at: begin } = { at: 0 }] = loop.sent;
      for (const name of ["a", "b", "c", "d"]) {
        const first = sentTo(loop, name).filter(({ at }) => at < begin + SECOND_MILLIS);
        expect(first.length, name).to.be.within(100, 150);
      }
    });

    it("have at most 64 under way at one endpoint, and begin the next when one ends", async () => {
      await bookWith(200, ...urlsOf("slow", 1));
      const loop = Loop.start(opened.cell);
      const ends: ((answer: ReceiverAnswer) => void)[] = [];
      loop.answer = () => new Promise((resolve) => ends.push(resolve));
      await loop.run(5 * SECOND_MILLIS);
      expect(loop.sent).to.have.lengthOf(64);
      for (const end of ends.splice(0, 10)) end({ code: 204, problem: "", retryAfterMillis: undefined });
      await loop.run(SECOND_MILLIS);
      expect(loop.sent).to.have.lengthOf(74);
    });

    it("leave half of the 512 under way to others, however many endpoints of one organization hang", async () => {
      await bookWith(70, ...urlsOf("greedy", 10));
      const loop = Loop.start(opened.cell);
      loop.answer = held;
      await loop.run(10 * SECOND_MILLIS);
      expect(loop.sent).to.have.lengthOf(256);
      await bookWith(70, ...urlsOf("modest", 1));
      await loop.run(5 * SECOND_MILLIS);
      expect(sentTo(loop, "modest")).to.have.lengthOf(64);
      for (const name of ["third", "fourth", "fifth"]) await bookWith(70, ...urlsOf(name, 10));
      await loop.run(10 * SECOND_MILLIS);
      for (const name of ["third", "fourth", "fifth"]) expect(sentTo(loop, name), name).not.to.deep.equal([]);
      expect(loop.sent.length).to.be.within(450, 512);
    });

    it("let organizations take turns: one with few events does not wait for one with many", async () => {
      await bookWith(300, ...urlsOf("greedy", 10));
      const loop = Loop.start(opened.cell);
      await loop.run(SECOND_MILLIS);
      await bookWith(40, ...urlsOf("modest", 1));
      await loop.run(2 * SECOND_MILLIS);
      const modest = sentTo(loop, "modest");
      expect(modest).to.have.lengthOf(40);
      expect(Number(modest.at(-1)?.at) - Number(modest[0]?.at)).to.be.at.most(200);
      expect(sentTo(loop, "greedy").length).to.be.below(3_000);
    });

    for (const state of ["RESTORED", "MOVING", "MOVED"]) {
      it(`stand still for a book that is ${state}, and go on when it is open`, async () => {
        const book = await bookWith(100, ...urlsOf("still", 1));
        await setState(book, state);
        const loop = Loop.start(opened.cell);
        await loop.run(5 * SECOND_MILLIS);
        expect(loop.sent).to.deep.equal([]);
        await setState(book, "OPEN");
        await loop.run(3 * SECOND_MILLIS);
        expect(loop.sent).to.have.lengthOf(100);
      });

      it(`stop within half a second when a book becomes ${state} in the middle of its events`, async () => {
        const book = await bookWith(500, ...urlsOf("still", 1));
        const loop = Loop.start(opened.cell);
        await loop.run(SECOND_MILLIS);
        await setState(book, state);
        await loop.run(SECOND_MILLIS / 2 + 50);
        const before = loop.sent.length;
        expect(before).to.be.within(1, 350);
        await loop.run(10 * SECOND_MILLIS);
        expect(loop.sent).to.have.lengthOf(before);
        await setState(book, "OPEN");
        await loop.run(5 * SECOND_MILLIS);
        expect(idsOf(loop).size).to.equal(500);
      });
    }

    it("send again what lies between the last save and a crash, with the same ids, and lose nothing", async () => {
      // A save comes once a second, so each of these crashes finds another part unsaved.
      for (const steps of [3, 14, 25, 31]) {
        const name = `crash${String(steps)}`;
        await bookWith(400, ...urlsOf(name, 1));
        const first = Loop.start(opened.cell);
        for (let step = 0; step < steps; step += 1) await first.step();
        const second = Loop.start(opened.cell, first.now);
        await second.run(5 * SECOND_MILLIS);
        expect(idsOf(first, second).size, name).to.equal(400);
        const again = second.sent.filter(({ id }) => idsOf(first).has(id));
        expect(again.length, name).to.be.within(1, 200);
      }
    });

    it("lose nothing while two servers both believe that they have the lease", async () => {
      await bookWith(400, ...urlsOf("both", 1));
      const first = Loop.start(opened.cell);
      const second = Loop.start(opened.cell);
      await second.step();
      for (let step = 0; step < 200; step += 1) {
        await first.step();
        if (step % 3 === 0) await second.step();
      }
      expect(idsOf(first, second).size).to.equal(400);
      const [row] = await execute<{ settled: string; last: string }>(
        opened.address,
        `SELECT e.settled_seq AS settled, b.last_seq AS last FROM webhook_endpoints e
         JOIN books b ON b.organization_id = e.organization_id WHERE e.status = 'ACTIVE'`,
      );
      expect(String(row?.settled)).to.equal(String(row?.last));
    });

    it("begin nothing without a lease, or in its last 20 seconds", async () => {
      await bookWith(10, ...urlsOf("lease", 1));
      const loop = Loop.start(opened.cell);
      for (const leaseMillis of [0, 19_999]) {
        loop.leaseMillis = leaseMillis;
        await loop.run(5 * SECOND_MILLIS);
        if (leaseMillis === 19_999) expect(loop.sent).to.deep.equal([]);
      }
      loop.leaseMillis = 20_000;
      await loop.run(2 * SECOND_MILLIS);
      expect(loop.sent).to.have.lengthOf(10);
    });
  });
}
