import { setImmediate } from "node:timers/promises";

import { expect } from "chai";

import type { OrganizationId } from "../../src/domain/values/ids.js";
import type { Description } from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { LedgerEvent } from "../../src/events/event.js";
import { Follower } from "../../src/events/follower.js";
import { type EventFilter, EVENTS_READ_MAX } from "../../src/events/ports.js";
import { watch } from "../../src/events/watch.js";
import { WatchEventsResponse } from "../../src/gen/kesc/v1/event_service.js";
import { eventCodec } from "../../src/grpc/messages/events/event.js";
import { eventually } from "../support/eventually.js";
import { TEST_ACTOR } from "../support/names.js";
import { ACCOUNT_ID, ORGANIZATION, transaction } from "../support/service/grpc-server.js";
import { MemoryEvents } from "../support/service/memory-events.js";

const OTHER = "org_01jd2r6p5vf8ksw3xhb1z7q4yf" as OrganizationId;

/** A watcher whose client takes messages when the test says so. */
class Watcher {
  readonly sequences: number[] = [];
  readonly messages: Buffer[] = [];
  nextSequence = -1;
  readonly #generator: ReturnType<typeof watch>;
  readonly #leaving = new AbortController();

  constructor(
    { follower, book }: { follower: Follower; book: MemoryEvents },
    given: { organizationId?: OrganizationId; after?: number; filter?: EventFilter; heartbeatMillis?: number } = {},
  ) {
    const { organizationId = ORGANIZATION, after: afterSequence = 0, filter = {}, heartbeatMillis = 60_000 } = given;
    this.#generator = watch(
      { organizationId, afterSequence, filter, signal: this.#leaving.signal },
      { follower, codec: eventCodec, readInTurn: (request) => book.after(request), heartbeatMillis },
    );
  }

  async take(): Promise<boolean> {
    const next = await this.#generator.next();
    if (next.done === true) return false;
    this.messages.push(next.value);
    const { events, next_sequence: nextSequence } = WatchEventsResponse.decode(next.value);
    this.sequences.push(...events.map(({ sequence }) => Number(sequence)));
    this.nextSequence = Number(nextSequence);
    return true;
  }

  async takeUntil(sequence: number): Promise<void> {
    while (this.nextSequence < sequence && (await this.take()));
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#generator.return(undefined);
  }
}

describe("watching a book", () => {
  let book: MemoryEvents;
  let follower: Follower;
  let errors: unknown[];
  const watchers: Watcher[] = [];

  beforeEach(() => {
    book = new MemoryEvents();
    errors = [];
    follower = new Follower({ reads: book, codec: eventCodec, onError: (error) => errors.push(error) });
  });
  afterEach(async () => {
    await Promise.all(watchers.splice(0).map((watcher) => watcher.leave()));
    follower.close();
  });

  function watcher(given: ConstructorParameters<typeof Watcher>[1] = {}): Watcher {
    const made = new Watcher({ follower, book }, given);
    watchers.push(made);
    return made;
  }

  /** Adds events to a book. Each has so many bytes. */
  function happen(count: number, { organizationId = ORGANIZATION, bytes = 10 } = {}): void {
    const before = book.events.filter((event) => event.organizationId === organizationId).length;
    for (let index = 1; index <= count; index += 1) {
      const sequence = before + index;
      book.events.push({
        organizationId,
        sequence,
        id: `evt_${String(sequence)}`,
        type: sequence % 2 === 0 ? "transaction.completed" : "transaction.pending",
        recordedAt: toUnixMillis(0),
        actor: TEST_ACTOR,
        accountId: ACCOUNT_ID,
        transaction: transaction({ description: "x".repeat(bytes) as Description }),
        account: undefined,
        deposit: undefined,
        destination: undefined,
        apiKeyId: undefined,
        webhookEndpointId: undefined,
        railWarning: undefined,
        balances: undefined,
        row: undefined,
      } satisfies LedgerEvent);
    }
  }

  const upTo = (sequence: number, from = 1): number[] =>
    Array.from({ length: sequence - from + 1 }, (_, index) => from + index);

  it("begins with a message at once, also at the end of the book", async () => {
    happen(3);
    const late = watcher({ after: 3 });
    await late.take();
    expect([late.sequences, late.nextSequence]).to.deep.equal([[], 3]);
  });

  it("returns the last sequence of a book that ends before the watch would begin", async () => {
    happen(3);
    const ends = watch(
      { organizationId: ORGANIZATION, afterSequence: 4, filter: {}, signal: new AbortController().signal },
      { follower, codec: eventCodec, readInTurn: (request) => book.after(request), heartbeatMillis: 60_000 },
    );
    expect(await ends.next()).to.deep.equal({ done: true, value: 3 });
  });

  it("encodes a message once for all who watch, and wakes them when they are woken", async () => {
    const both = [watcher(), watcher()] as const;
    await Promise.all(both.map((each) => each.take()));
    happen(5);
    follower.wake([{ organizationId: ORGANIZATION }]);
    await Promise.all(both.map((each) => each.takeUntil(5)));
    expect(both.map(({ sequences }) => sequences)).to.deep.equal([upTo(5), upTo(5)]);
    expect(both[0].messages.at(-1)).to.equal(both[1].messages.at(-1));
  });

  it("finds by itself what other servers have written, in many books at once", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `org_${String(index)}` as OrganizationId);
    const all = ids.map((organizationId) => watcher({ organizationId }));
    await Promise.all(all.map((each) => each.take()));
    for (const organizationId of ids) happen(2, { organizationId });
    await Promise.all(all.map((each) => each.takeUntil(2)));
    for (const { sequences } of all) expect(sequences).to.deep.equal([1, 2]);
  });

  it("lets a slow watcher fall behind, and loses nothing for it", async () => {
    const [fast, slow] = [watcher(), watcher()] as const;
    await Promise.all([fast.take(), slow.take()]);
    for (let round = 1; round <= 40; round += 1) {
      happen(100, { bytes: 2_000 });
      follower.wake([{ organizationId: ORGANIZATION }]);
      await fast.takeUntil(round * 100);
    }
    const readsBefore = book.lookedAt.length;
    await slow.takeUntil(4_000);
    expect(fast.sequences).to.deep.equal(upTo(4_000));
    expect(slow.sequences).to.deep.equal(upTo(4_000));
    // It read the older half of the book by itself, and then met the tail of 4 MiB.
    const ownReads = book.lookedAt.length - readsBefore;
    expect(ownReads).to.be.within(4, 4_000 / EVENTS_READ_MAX);
  });

  it("cuts messages at 256 KiB, in the tail and behind it", async () => {
    happen(400, { bytes: 5_000 });
    const one = watcher();
    await one.takeUntil(400);
    happen(400, { bytes: 5_000 });
    follower.wake([{ organizationId: ORGANIZATION }]);
    await one.takeUntil(800);
    expect(one.sequences).to.deep.equal(upTo(800));
    expect(Math.max(...one.messages.map(({ length }) => length))).to.be.at.most(262_144 + 16);
  });

  it("sends only what matches, and says with a heartbeat how far it has come", async () => {
    happen(300);
    const filtered = watcher({ filter: { types: ["transaction.completed"] }, heartbeatMillis: 5 });
    await filtered.takeUntil(300);
    happen(7);
    follower.wake([{ organizationId: ORGANIZATION }]);
    await filtered.takeUntil(307);
    expect(filtered.sequences).to.deep.equal(upTo(307).filter((sequence) => sequence % 2 === 0));
    await filtered.take();
    expect([filtered.sequences.at(-1), filtered.nextSequence]).to.deep.equal([306, 307]);
  });

  it("shows nothing of another book", async () => {
    const [ours, theirs] = [watcher(), watcher({ organizationId: OTHER })] as const;
    await Promise.all([ours.take(), theirs.take()]);
    happen(3);
    happen(1, { organizationId: OTHER });
    follower.wake([{ organizationId: ORGANIZATION }, { organizationId: OTHER }]);
    await Promise.all([ours.takeUntil(3), theirs.takeUntil(1)]);
    expect([ours.sequences, theirs.sequences]).to.deep.equal([[1, 2, 3], [1]]);
  });

  it("goes on after a failure of the database", async () => {
    const one = watcher();
    await one.take();
    const latest = book.latest.bind(book);
    let failures = 0;
    book.latest = (ids) => {
      book.latest = latest;
      failures += 1;
      return Promise.reject(new Error(`no connection for ${String(ids.length)} books`));
    };
    await eventually(() => failures === 1);
    happen(2);
    await one.takeUntil(2);
    expect(one.sequences).to.deep.equal([1, 2]);
    expect(errors).to.have.length(1);
  });

  it("reads no more when nobody watches", async () => {
    const one = watcher();
    await one.take();
    await one.leave();
    let looks = 0;
    book.latest = () => {
      looks += 1;
      return Promise.resolve(new Map());
    };
    follower.wake([{ organizationId: ORGANIZATION }]);
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    expect(looks).to.equal(0);
  });
});
