import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { describePostgres, limitsOf, withoutLimits } from "../../../src/storage/postgres/address.js";
import { PostgresNode } from "../../support/postgres-node.js";
import { kesc, kescJson, Place, RunningKesc } from "../../support/service/kesc.js";

describe("the URL of a PostgreSQL", () => {
  for (const [url, described] of [
    ["postgres://kesc:hush@db.example:6432/books", "books at db.example:6432"],
    ["postgres://kesc@db.example/books", "books at db.example:5432"],
    ["postgres://kesc@/books?host=/run/pg", "books at /run/pg/.s.PGSQL.5432"],
    ["postgres://kesc@localhost/books?host=/run/pg&port=5433", "books at /run/pg/.s.PGSQL.5433"],
    ["postgres://kesc@%2Frun%2Fpg/books", "books at /run/pg/.s.PGSQL.5432"],
  ] as const) {
    it(`is described without user and password: ${url}`, () => {
      expect(describePostgres(url)).to.equal(described);
    });
  }

  it("gives the limits of a server, and none for work that takes long", () => {
    const url = "postgres://kesc@/books?host=/run/pg&statement_timeout=400&query_timeout=x";
    expect(limitsOf(url, 10_000)).to.deep.equal({ statementMillis: 400, idleMillis: 10_000, queryMillis: 13_000 });
    expect(limitsOf(url, 0)).to.deep.equal({ statementMillis: 0, idleMillis: 0, queryMillis: 0 });
    expect(withoutLimits(url)).to.equal("postgres://kesc@/books?host=%2Frun%2Fpg");
    expect(withoutLimits("postgres://kesc@db/books?query_timeout=5")).to.equal("postgres://kesc@db/books");
  });
});

describe("a PostgreSQL that the tests set up otherwise", () => {
  let node: PostgresNode;
  let sockets: string;
  let place: Place;
  before(async () => {
    node = await PostgresNode.create();
    sockets = mkdtempSync(join(tmpdir(), "kesc-sockets-"));
    chmodSync(sockets, 0o777);
    await node.start({ unix_socket_directories: sockets });
    place = new Place();
  });
  after(async () => {
    await node.end("SIGINT");
    node.removeData();
    rmSync(sockets, { recursive: true, force: true });
    place.remove();
  });

  it("serves every command over its Unix socket", async () => {
    await node.createDatabase("over_a_socket");
    const url = `postgres://kesc@/over_a_socket?host=${sockets}&port=${String(node.port)}&statement_timeout=5000`;
    const variables = { ...place.variables, DATABASE_URL: url };
    const before = await kesc(["org", "list"], variables);
    expect(before.stderr).to.contain(
      `The database over_a_socket at ${sockets}/.s.PGSQL.${String(node.port)} lacks the migrations`,
    );
    expect(await kesc(["migrate", "--cells", "2"], variables)).to.include({ code: 0, stderr: "" });
    await kescJson(["org", "create", "--name", "A"], variables);
    expect(await kescJson(["verify"], variables)).to.include({ holds: true });
    const server = new RunningKesc(["server"], variables);
    await server.ready;
    expect(await server.end()).to.equal(0);
  });

  it("is refused with an encoding other than UTF8, with advice", async () => {
    await node.query("CREATE DATABASE in_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    const url = `postgres://kesc@127.0.0.1:${String(node.port)}/in_latin1`;
    for (const command of [["migrate"], ["server"]]) {
      const { code, stderr } = await kesc(command, { ...place.variables, DATABASE_URL: url });
      expect(code).to.equal(1);
      expect(stderr).to.contain("the encoding of the database is LATIN1, but it must be UTF8. Create another one:");
    }
  });
});
