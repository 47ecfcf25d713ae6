import { expect } from "chai";

import { limitsOf } from "../../../src/storage/postgres/address.js";
import type { SentStatement } from "../../../src/storage/postgres/journey.js";
import { type PostgresConnections, postgresTransactions } from "../../../src/storage/postgres/transaction.js";
import type { Session, Transact } from "../../../src/storage/sql/engine.js";
import { databaseOfSuite, execute } from "../../support/databases.js";

const NOTE = "INSERT INTO notes SELECT id FROM json_to_recordset(?::json) AS input(id bigint)";

const note = (session: Session, id: number): Promise<void> => session.write([{ sql: NOTE, rows: [{ id }] }]);

describe("a transaction on PostgreSQL, whose statements do not wait for each other", () => {
  const opened = databaseOfSuite("postgres");
  let transact: Transact;

  before(async () => {
    await execute(opened.address, "CREATE TABLE notes (id BIGINT PRIMARY KEY CHECK (id > 0))");
    await execute(
      opened.address,
      `CREATE FUNCTION refuse_seven() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN IF NEW.id = 7 THEN RAISE EXCEPTION 'seven'; END IF; RETURN NULL; END $$`,
    );
    await execute(
      opened.address,
      `CREATE CONSTRAINT TRIGGER refuse_seven AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION refuse_seven()`,
    );
    transact = opened.cell.transact;
  });
  afterEach(() => execute(opened.address, "DELETE FROM notes"));

  const notes = async (): Promise<number[]> =>
    (await execute<{ id: string }>(opened.address, "SELECT id FROM notes ORDER BY id")).map(({ id }) => Number(id));

  it("commits what was written", async () => {
    const answer = await transact(async (session) => {
      await note(session, 1);
      await note(session, 2);
      return "answer";
    });
    expect(answer).to.equal("answer");
    expect(await notes()).to.deep.equal([1, 2]);
  });

  it("sees in a read what was written before it", async () => {
    const rows = await transact(async (session) => {
      await note(session, 1);
      return session.read({ sql: "SELECT id FROM notes", bindings: [] });
    });
    expect(rows).to.deep.equal([{ id: 1 }]);
  });

  it("says of the first write that fails why, and keeps nothing", async () => {
    const failing = transact(async (session) => {
      await note(session, 1);
      await note(session, -1);
      await note(session, 2);
    });
    expect(await failureOf(failing)).to.match(/notes_id_check/);
    expect(await notes()).to.deep.equal([]);
  });

  it("says of a read that fails why, and keeps nothing", async () => {
    const failing = transact(async (session) => {
      await note(session, 1);
      await session.read({ sql: "SELECT 1 / (SELECT count(*) - 1 FROM notes)", bindings: [] });
    });
    expect(await failureOf(failing)).to.match(/division by zero/);
    expect(await notes()).to.deep.equal([]);
  });

  it("says of the first statement that fails why, although the caller saw the error of a later one", async () => {
    const failing = transact(async (session) => {
      await note(session, -1);
      await session.read({ sql: "SELECT id FROM notes", bindings: [] });
    });
    expect(await failureOf(failing)).to.match(/notes_id_check/);
    const swallowing = transact(async (session) => {
      void session.read({ sql: "SELECT 1 / 0", bindings: [] }).catch(() => undefined);
      await session.read({ sql: "SELECT id FROM notes", bindings: [] }).catch(() => undefined);
      throw new Error("a bug that follows from the failure");
    });
    expect(await failureOf(swallowing)).to.match(/division by zero/);
    expect(await notes()).to.deep.equal([]);
  });

  it("keeps nothing of what was on its way when the work threw", async () => {
    const failing = transact(async (session) => {
      await note(session, 1);
      throw new Error("a bug");
    });
    expect(await failureOf(failing)).to.equal("a bug");
    expect(await notes()).to.deep.equal([]);
  });

  it("leaves nothing behind for whoever has the connection next", async () => {
    for (const id of [-1, 7]) {
      await failureOf(transact((session) => note(session, id)));
      await transact((session) => note(session, 1));
      expect(await notes()).to.deep.equal([1]);
      await execute(opened.address, "DELETE FROM notes");
    }
  });

  it("gives the connection up where the transaction cannot be ended", async () => {
    const backend = (session: Session): Promise<readonly unknown[]> =>
      session.read({ sql: "SELECT pg_backend_pid()", bindings: [] });
    const before = await transact(backend);
    expect(await transact(backend)).to.deep.equal(before);
    const sql = "SELECT pg_terminate_backend(pg_backend_pid())";
    expect(await failureOf(transact((session) => session.read({ sql, bindings: [] })))).to.match(/terminat/);
    expect(await transact(backend)).not.to.deep.equal(before);
  });
});

describe("a transaction on a PostgreSQL that answers otherwise than it should", () => {
  /** Knex over a server of one connection, whose answer to a statement is given. */
  function serverThat(answer: (sql: string) => unknown): { client: PostgresConnections; sent: string[] } {
    const sent: string[] = [];
    const client = {
      acquireConnection: () => Promise.resolve({}),
      releaseConnection: () => Promise.resolve(),
      send: async (_: unknown, statements: readonly SentStatement[]) => {
        sent.push(...statements.map(({ sql }) => sql));
        await Promise.resolve();
        return statements.map(({ sql }) => answer(sql));
      },
    };
    return { client: client as unknown as PostgresConnections, sent };
  }

  const LIMITS = limitsOf("", 1_000);

  it("writes nothing unless a transaction has begun", async () => {
    const { client, sent } = serverThat((sql) => {
      if (sql.startsWith("BEGIN")) throw new Error("canceled");
      return { command: sql, rows: [] };
    });
    expect(await failureOf(postgresTransactions(client, LIMITS)((session) => note(session, 1)))).to.equal("canceled");
    expect(sent.map((sql) => sql.slice(0, 6))).to.deep.equal(["BEGIN ", "SELECT", "ROLLBA"]);
  });

  it("trusts no read that did not happen in the transaction", async () => {
    const { client } = serverThat((sql) => {
      if (sql.startsWith("BEGIN")) throw new Error("canceled");
      return { command: sql, rows: [{ found: 1 }] };
    });
    const reading = postgresTransactions(client, LIMITS)((session) => session.read({ sql: "SELECT 1", bindings: [] }));
    expect(await failureOf(reading)).to.equal("canceled");
  });

  it("takes no ROLLBACK for a COMMIT", async () => {
    const { client } = serverThat((sql) => ({ command: sql === "COMMIT" ? "ROLLBACK" : sql, rows: [] }));
    expect(await failureOf(postgresTransactions(client, LIMITS)((session) => note(session, 1)))).to.match(
      /COMMIT as ROLLBACK/,
    );
  });
});

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("it did not fail");
}
