import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import type { OrganizationId } from "../../../src/domain/values/ids.js";

/** A row of the journal, as far as a reader compares it. */
interface Row {
  readonly seq: number;
  readonly recordedAt: number;
  readonly contentHash: string;
}

const QUERY_MILLIS_MAX = 5_000;
const RECONNECT_MILLIS = 50;
const FINISH_MILLIS_MAX = 60_000;

/**
 * Reads one book straight from PostgreSQL, again and again without a pause: each time the rows
 * after the last one that it knows. They must continue the book without a gap, whatever servers do.
 */
export class BookReader {
  /** The rows that did not continue the book. */
  readonly violations: string[] = [];
  polls = 0;
  readonly #url: string;
  readonly #schema: string;
  readonly #organizationId: OrganizationId;
  readonly #known: Row[] = [];
  #client: pg.Client | undefined;
  #reading: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(url: string, { schema, organizationId }: { schema: string; organizationId: OrganizationId }) {
    this.#url = url;
    this.#schema = schema;
    this.#organizationId = organizationId;
  }

  /** The number of rows that it knows. */
  get rows(): number {
    return this.#known.length;
  }

  start(): void {
    this.#reading = this.#readUntilStopped();
  }

  /** Reads the rest of the book, and compares all rows with those that it knows. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#reading;
    const deadline = performance.now() + FINISH_MILLIS_MAX;
    while (!(await this.#poll())) {
      if (performance.now() > deadline) throw new Error("a reader cannot reach the database");
      await sleep(RECONNECT_MILLIS);
    }
    this.#compare(await this.#rowsAfter(0));
    await this.#disconnect();
  }

  async #readUntilStopped(): Promise<void> {
    while (!this.#isStopping) {
      if (!(await this.#poll())) await sleep(RECONNECT_MILLIS);
    }
  }

  /** Returns whether the database has answered. */
  async #poll(): Promise<boolean> {
    let found: readonly Row[];
    try {
      found = await this.#rowsAfter(this.#known.length);
    } catch {
      await this.#disconnect();
      return false;
    }
    this.polls += 1;
    for (const row of found) this.#add(row);
    return true;
  }

  #add(row: Row): void {
    const last = this.#known.at(-1);
    if (row.seq !== this.#known.length + 1) {
      this.#violated(`row ${String(row.seq)} came after row ${String(this.#known.length)}`);
    }
    if (last !== undefined && row.recordedAt < last.recordedAt) {
      this.#violated(`row ${String(row.seq)} is earlier than the row before it`);
    }
    this.#known.push(row);
  }

  #compare(rows: readonly Row[]): void {
    const differing = this.#known.findIndex(({ contentHash }, index) => rows[index]?.contentHash !== contentHash);
    if (differing !== -1) this.#violated(`row ${String(differing + 1)} has changed since it was read`);
    if (rows.length !== this.#known.length) {
      this.#violated(`the book has ${String(rows.length)} rows, and ${String(this.#known.length)} were read`);
    }
  }

  #violated(what: string): void {
    this.violations.push(`reader of ${this.#organizationId}: ${what}`);
  }

  async #rowsAfter(seq: number): Promise<readonly Row[]> {
    const client = (this.#client ??= await this.#connect());
    const { rows } = await client.query<{ seq: string; recorded_at: string; content_hash: Buffer }>(
      `SELECT seq, recorded_at, content_hash FROM ${this.#schema}.journal
       WHERE book = (SELECT number FROM ${this.#schema}.books WHERE organization_id = $1) AND seq > $2 ORDER BY seq`,
      [this.#organizationId, seq],
    );
    return rows.map((row) => ({
      seq: Number(row.seq),
      recordedAt: Number(row.recorded_at),
      contentHash: row.content_hash.toString("hex"),
    }));
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: "reader",
      connectionTimeoutMillis: QUERY_MILLIS_MAX,
      query_timeout: QUERY_MILLIS_MAX,
    });
    // Without a listener, the end of the connection would throw and end the process.
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }
}
