import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import { newAccount } from "../../support/service/each-engine.js";
import { Service } from "../../support/service/service.js";

/** The client of examples/events. */
interface Example {
  readonly watchEvents: (options: {
    readonly url: string;
    readonly key: string;
    readonly after?: number;
    readonly signal?: AbortSignal;
  }) => AsyncIterable<{ readonly sequence: number }>;
}

export async function exampleClient(): Promise<Example> {
  return (await import(pathToFileURL(resolve("examples/events/watch.mjs")).href)) as Example;
}

export interface WatchOptions {
  /** The events that both readers must see. */
  readonly events: number;
  readonly kills: number;
  readonly print: (line: string) => void;
}

const BATCH = 250;
const WRITERS_OF_SERVER = 2;
const PAUSE_MILLIS = 100;
const REPORT_MILLIS = 5_000;

/**
 * Two servers write to one PostgreSQL. One of them, with its gateway, is killed with -9 again and
 * again. A reader at each gateway must see 1, 2, 3 and so on.
 *
 * Throws at the first event that is lost, doubled or out of order.
 */
export async function watchThroughKills({ events, kills, print }: WatchOptions): Promise<void> {
  const noRates = { KESC_RATE_CALLS_PER_SECOND: "0", KESC_RATE_LISTS_PER_SECOND: "0" };
  const stays = await Service.start("postgres", noRates);
  const dies = await Service.start("postgres", { ...noRates, DATABASE_URL: stays.databaseUrl });
  const isDone = new AbortController();
  const startedAt = performance.now();
  try {
    const { key } = stays.a;
    const accountId = await newAccount(stays);
    const readers = [new Reader("reader at the server that stays"), new Reader("reader at the server that is killed")];
    const reading = readers.map((reader, index) =>
      reader.read({ service: index === 0 ? stays : dies, key, events, signal: isDone.signal }),
    );
    const writing = [stays, dies].flatMap((service, server) =>
      Array.from({ length: WRITERS_OF_SERVER }, (_, writer) =>
        write(service, { key, accountId, name: `${String(server)}-${String(writer)}`, signal: isDone.signal }),
      ),
    );
    const report = setInterval(() => {
      print(readers.map(({ seen }) => String(seen)).join(" "));
    }, REPORT_MILLIS);
    const killing = killAgain(dies, { kills, events, reader: readers[0], print });
    try {
      await Promise.all([...reading, killing]);
    } finally {
      clearInterval(report);
      isDone.abort();
      await Promise.allSettled(writing);
    }
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    for (const { name, seen } of readers) print(`${name}: 1 to ${String(seen)}, each once and in order`);
    print(`${String(kills)} kills, ${String(seconds)} s`);
  } finally {
    await dies.dispose();
    await stays.dispose();
  }
}

class Reader {
  seen = 0;

  constructor(readonly name: string) {}

  async read(given: { service: Service; key: string; events: number; signal: AbortSignal }): Promise<void> {
    const { watchEvents } = await exampleClient();
    const url = `http://${given.service.httpAddress}`;
    for await (const { sequence } of watchEvents({ url, key: given.key, signal: given.signal })) {
      if (sequence !== this.seen + 1) {
        throw new Error(`${this.name} saw ${String(sequence)} after ${String(this.seen)}`);
      }
      this.seen = sequence;
      if (sequence >= given.events) return;
    }
  }
}

interface Writing {
  readonly key: string;
  readonly accountId: string;
  readonly name: string;
  readonly signal: AbortSignal;
}

/** Mints until the signal aborts, also while the server is away. */
async function write(service: Service, { key, accountId, name, signal }: Writing): Promise<void> {
  for (let batch = 0; !signal.aborted; batch += 1) {
    const requests = Array.from({ length: BATCH }, (_, index) => ({
      mint: { account_id: accountId, amount: "0.01", reference: `${name}-${String(batch)}-${String(index)}` },
    }));
    const sent = await service.grpc.call("BatchCreateTransactions", { requests }, { key }).catch(() => undefined);
    if (sent?.code !== 0) await sleep(PAUSE_MILLIS);
  }
}

interface Killing {
  readonly kills: number;
  readonly events: number;
  readonly reader: Reader | undefined;
  readonly print: (line: string) => void;
}

/** Kills the service at equal distances of the reader's way. */
async function killAgain(service: Service, { kills, events, reader, print }: Killing): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    while ((reader?.seen ?? 0) < (events * kill) / (kills + 1)) await sleep(20);
    print(`kill ${String(kill)} after event ${String(reader?.seen)}`);
    await service.kill();
    await service.start();
  }
}
