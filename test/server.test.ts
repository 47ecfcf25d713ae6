import { expect } from "chai";
import { pino } from "pino";

import { startServer } from "../src/server.js";
import { OperatorError } from "../src/startup/operator-error.js";
import { configOf } from "./support/config.js";
import { openTestDatabase, type TestDatabase } from "./support/databases.js";
import { TLS_CERT_FILE, TLS_KEY_FILE } from "./support/tls/files.js";

const logger = pino({ level: "silent" });
const ANY_PORT = configOf({ KESC_GRPC_ADDRESS: "127.0.0.1:0" });

describe("the server, in the process of its caller", () => {
  let opened: TestDatabase;
  const { length: listeners } = process.listeners("SIGTERM");

  before(async () => {
    opened = await openTestDatabase("sqlite");
  });
  after(() => opened.dispose());

  it("listens until it is stopped, sets no signal handler, and leaves a database open that it was given", async () => {
    const { database, cell } = opened;
    const server = await startServer(ANY_PORT, { logger, database });
    expect(server.address).to.match(/^127\.0\.0\.1:[1-9][0-9]*$/);
    expect(process.listeners("SIGTERM")).to.have.lengthOf(listeners);
    await server.stop();
    expect(await cell.reader.rows("SELECT 1 AS one")).to.deep.equal([{ one: 1 }]);
    // Its address is free again.
    const again = await startServer({ ...ANY_PORT, grpcAddress: server.address }, { logger, database });
    await again.stop();
  });

  it("says when its certificate expires, and nothing without one", async () => {
    const { database } = opened;
    const tls = configOf({ KESC_TLS_CERT_FILE: TLS_CERT_FILE, KESC_TLS_KEY_FILE: TLS_KEY_FILE }).tls;
    const secure = await startServer({ ...ANY_PORT, tls }, { logger, database });
    expect(new Date(secure.certificateNotAfter() ?? 0).getUTCFullYear()).to.equal(2126);
    await secure.stop();
    const plain = await startServer(ANY_PORT, { logger, database });
    expect(plain.certificateNotAfter()).to.equal(undefined);
    await plain.stop();
  });

  it("says that its address is in use, and leaves the database open", async () => {
    const { database, cell } = opened;
    const first = await startServer(ANY_PORT, { logger, database });
    const second = startServer({ ...ANY_PORT, grpcAddress: first.address }, { logger, database });
    const error: unknown = await second.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(OperatorError).and.have.property("exitCode", 1);
    expect(String(error)).to.contain(`${first.address}: the address is in use already`);
    expect(await cell.reader.rows("SELECT 1 AS one")).to.deep.equal([{ one: 1 }]);
    await first.stop();
  });
});
