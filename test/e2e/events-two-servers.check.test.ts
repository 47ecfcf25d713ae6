import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { watchThroughKills } from "../attack/events/watch-through-kills.js";
import type { GrpcStream } from "../support/callers/grpc-caller.js";
import { eventually } from "../support/eventually.js";
import { expectBooksHold, fresh, newAccount } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

// EVENTS=1000000 makes a long run of it (docs/trust.md).
const EVENTS = Number(process.env["EVENTS"] ?? 4_000);
const BATCH = 100;
const WRITERS = 4;
const LONG_MILLIS = 60_000 + EVENTS * 5;
const PAUSE_MILLIS = 20;

interface Message {
  readonly events: readonly { readonly sequence: string; readonly id: string }[];
  readonly next_sequence: string;
}

/** Follows a book, and goes on after each interruption as docs/events.md says. */
class Reader {
  /** The sequence of the last event. */
  last = 0;
  interruptions = 0;
  /** The first event that did not follow the one before it. */
  wrong: string | undefined;
  #state: "reading" | "ending" = "reading";
  readonly #server: () => Service | undefined;
  readonly #key: string;

  constructor(server: () => Service | undefined, key: string) {
    this.#server = server;
    this.#key = key;
  }

  async run(): Promise<void> {
    let next = "0";
    while (this.#isReading()) {
      await sleep(PAUSE_MILLIS);
      const server = this.#server();
      if (server === undefined) continue;
      const options = { key: this.#key, deadlineMillis: LONG_MILLIS };
      next = await this.#read(server.grpc.watch<Message>("WatchEvents", { after_sequence: next }, options), next);
      if (this.#isReading()) this.interruptions += 1;
    }
  }

  end(): void {
    this.#state = "ending";
  }

  #isReading(): boolean {
    return this.#state === "reading";
  }

  async #read(stream: GrpcStream<unknown, Message>, from: string): Promise<string> {
    let next = from;
    const status = { hasEnded: false };
    void stream.ended.then(() => {
      status.hasEnded = true;
    });
    for (let isLast = false; !isLast;) {
      await sleep(PAUSE_MILLIS);
      isLast = status.hasEnded;
      for (const { events, next_sequence } of stream.responses.splice(0)) {
        for (const { sequence } of events) this.#take(Number(sequence));
        next = next_sequence;
      }
      if (!this.#isReading()) stream.cancel();
    }
    return next;
  }

  #take(sequence: number): void {
    if (sequence !== this.last + 1) this.wrong ??= `${String(sequence)} after ${String(this.last)}`;
    this.last = sequence;
  }
}

describe("events of two servers on one PostgreSQL, one of which is killed", function () {
  this.timeout(LONG_MILLIS);
  let first: Service;
  let second: Service;

  before(async () => {
    first = await Service.start("postgres");
    second = await Service.start("postgres", { DATABASE_URL: first.databaseUrl });
  });
  after(async () => {
    await second.dispose();
    await first.dispose();
  });

  it("come to readers at both without a loss, without a repeat, and in order", async () => {
    const { key } = first.a;
    const accountId = await newAccount(first);
    /** The second server, while it runs. */
    let running: Service | undefined = second;
    const readers = [new Reader(() => first, key), new Reader(() => running, key)] as const;
    const reading = readers.map((reader) => reader.run());
    let isOver = false;
    const write = async (of: () => Service | undefined): Promise<void> => {
      while (!isOver) {
        const server = of();
        if (server === undefined) {
          await sleep(PAUSE_MILLIS);
          continue;
        }
        const requests = Array.from({ length: BATCH }, () => ({
          mint: { account_id: accountId, amount: "0.01", reference: fresh("event") },
        }));
        const { code } = await server.grpc.call("BatchCreateTransactions", { requests }, { key });
        if (code !== 0) await sleep(PAUSE_MILLIS);
      }
    };
    const writing = Array.from({ length: WRITERS }, (_, index) => write(() => (index % 2 === 0 ? first : running)));

    await eventually(() => readers[0].last > EVENTS / 2, { millisMax: LONG_MILLIS });
    running = undefined;
    await second.kill();
    await second.start();
    running = second;
    await eventually(() => readers[0].last > EVENTS, { millisMax: LONG_MILLIS });
    isOver = true;
    await Promise.all(writing);

    const { response } = await first.grpc.call("ListEvents", { page_size: 1 }, { key });
    const latest = Number(response["latest_sequence"]);
    await eventually(() => readers.every(({ last }) => last === latest), {
      millisMax: LONG_MILLIS,
      what: () => `the readers are at ${readers.map(({ last }) => String(last)).join(" and ")} of ${String(latest)}`,
    });
    for (const reader of readers) reader.end();
    await Promise.all(reading);
    expect(readers.map(({ wrong }) => wrong)).to.deep.equal([undefined, undefined]);
    expect(readers[1].interruptions).to.be.above(0);
    if (process.env["EVENTS"] === undefined) await expectBooksHold(first);
  });
});

describe("streams over REST", () => {
  it("show each event once and in order while two servers write and one is killed", async () => {
    await watchThroughKills({ events: 4_000, kills: 1, print: () => undefined });
  });
});
