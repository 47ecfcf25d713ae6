import pg from "pg";

/** A statement of a journey. PostgreSQL keeps one with a name. */
export interface SentStatement {
  readonly sql: string;
  readonly values?: readonly (string | number | Uint8Array)[] | undefined;
  readonly name?: string | undefined;
}

type SentResult = pg.QueryResult<pg.QueryResultRow>;

/** The names that PostgreSQL keeps for a connection, as its results say. */
const keptBy = new WeakMap<pg.Client, Set<string>>();

/**
 * Sends statements in one write, with one Sync behind them: PostgreSQL answers all in one packet.
 * Resolves with one result for each. After the first that fails it skips the others, and the
 * promise rejects with that error.
 */
export async function travel(client: pg.Client, statements: readonly SentStatement[]): Promise<readonly SentResult[]> {
  const kept = keptBy.get(client) ?? new Set<string>();
  keptBy.set(client, kept);
  const results = await new Promise<SentResult | SentResult[]>((resolve, reject) => {
    const journey = new Journey(statements, kept, (error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
    client.query(journey);
  });
  for (const { name } of statements) if (name !== undefined) kept.add(name);
  return [results].flat();
}

/**
 * `pg` documents neither that it calls `submit` of its own queries, nor the methods that write
 * messages, nor that a query collects several results: test/storage/postgres/journey.test.ts fails
 * where one of them is gone.
 */
class Journey extends pg.Query {
  readonly #statements: readonly SentStatement[];
  readonly #kept: ReadonlySet<string>;

  constructor(
    statements: readonly SentStatement[],
    kept: ReadonlySet<string>,
    callback: (error: Error | undefined, result: SentResult) => void,
  ) {
    super("", callback);
    this.#statements = statements;
    this.#kept = kept;
  }

  override submit = (wire: pg.Connection): void => {
    wire.stream.cork();
    try {
      for (const { sql, values = [], name = "" } of this.#statements) {
        if (!this.#kept.has(name)) {
          // A journey that failed may have left the name there.
          if (name !== "") wire.close({ type: "S", name }, true);
          wire.parse({ text: sql, name, types: [] }, true);
        }
        wire.bind({ statement: name, values: values.map(encoded) }, true);
        wire.describe({ type: "P" }, true);
        wire.execute({}, true);
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
  };
}

function encoded(value: string | number | Uint8Array): string | Buffer {
  return value instanceof Uint8Array ? Buffer.from(value) : String(value);
}
