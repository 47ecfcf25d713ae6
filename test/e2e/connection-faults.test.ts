import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import type { GrpcReply } from "../support/callers/grpc-caller.js";
import { execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { sharedPostgres } from "../support/postgres.js";
import { expectBooksHold } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";
import { TcpForwarder } from "../support/tcp-forwarder.js";

// The limits are short, so that the test is. They are in the address, where an operator may set
// them too.
const QUERY_MILLIS_MAX = 1_500;
/** The end of a batch. Its beginning names the isolation level READ COMMITTED. */
const ENDS = /COMMIT(?!TED)/;
/** PostgreSQL's answer: a SELECT is complete, and the connection is in a transaction. */

const READ_IN_TRANSACTION = /SELECT \d+\0Z\0\0\0\x05T/;
const LIMITS = `statement_timeout=1200&query_timeout=${String(QUERY_MILLIS_MAX)}&idle_in_transaction_session_timeout=7500`;

describe("a connection to PostgreSQL", () => {
  let network: TcpForwarder;
  let service: Service;
  /** Leads to the database directly, and not through `network`. */
  let url: string;
  let accountId: string;
  let mints = 0;

  before(async () => {
    url = await (await sharedPostgres()).createDatabase();
    network = await TcpForwarder.start(Number(new URL(url).port));
    const forwarded = new URL(`${url}?${LIMITS}`);
    forwarded.port = String(network.port);
    service = await Service.start("postgres", { DATABASE_URL: forwarded.href });
    const { response } = await service.grpc.call("CreateAccount", { user_id: "user", phone_number: "0712345678" });
    accountId = (response["account"] as { id: string }).id;
  });
  after(async () => {
    await service.dispose();
    await network.stop();
  });

  function mint(reference = `mint${String((mints += 1))}`): Promise<GrpcReply> {
    return service.grpc.call("Mint", { account_id: accountId, amount: "1.00", reference });
  }

  async function expectRecovery(): Promise<void> {
    const isGood = async (): Promise<boolean> => {
      const { code, reason } = await mint("the same each time");
      if (code !== 0) expect(reason).to.equal("STORAGE_UNAVAILABLE");
      return code === 0;
    };
    await eventually(isGood, { what: () => `did not recover: ${service.printed()}` });
  }

  async function expectMintsInBooks(count: number): Promise<void> {
    await expectBooksHold(service);
    const { response } = await service.grpc.call("GetAccount", { account_id: accountId });
    expect(response["account"]).to.include({ available_balance: `${String(count)}.00` });
  }

  it("that goes silent amid a batch is UNAVAILABLE in time; nothing of the batch happened, and others go on afterwards", async () => {
    expect((await mint()).code).to.equal(0);
    // The batch has read and locked its rows. Its writes would go out together with its COMMIT.
    const silent = network.silenceBefore(READ_IN_TRANSACTION);
    const hung = mint("hung");
    await silent;
    expect(await hung).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
    // Longer than any timeout of the driver on that connection.
    await sleep(3 * QUERY_MILLIS_MAX);
    network.resume();
    await expectRecovery();
    for (let count = 0; count < 5; count += 1) expect((await mint()).code).to.equal(0);
    const { response } = await service.grpc.call("ListTransactions", { reference: "hung" });
    expect(response["transactions"]).to.deep.equal([]);
    await expectMintsInBooks(7);
  });

  it("that goes silent after COMMIT is UNAVAILABLE in time, and a repeat of the call tells the outcome", async () => {
    const silent = network.silenceAfter(ENDS);
    const hung = mint("hung at its end");
    await silent;
    expect(await hung).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
    network.resume();
    await expectRecovery();
    const again = await mint("hung at its end");
    expect(again.code).to.equal(0);
    expect(again.replayed).to.equal(true);
    await expectMintsInBooks(8);
  });

  it("that is lost after COMMIT and before its answer is UNAVAILABLE, and a repeat of the call tells the outcome", async () => {
    const { response: before } = await service.grpc.call("ListTransactions", {});
    await Promise.all([
      network.loseAnswer(ENDS),
      mint("unknown").then((answer) => {
        expect(answer).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
      }),
    ]);
    const again = await mint("unknown");
    expect(again.code).to.equal(0);
    expect(again.replayed).to.equal(true);
    const { response } = await service.grpc.call("ListTransactions", {});
    expect(response["transactions"]).to.deep.equal([
      again.response["transaction"],
      ...(before["transactions"] as unknown[]),
    ]);
    await expectMintsInBooks(9);
  });

  it("that leads to a server without writes serves no reads either, until it leads to the primary again", async () => {
    const name = new URL(url).pathname.slice(1);
    const whatNewConnectionsFind = async (readOnly: "on" | "off"): Promise<void> => {
      await execute(
        { engine: "postgres", url },
        "SET default_transaction_read_only = off",
        `ALTER DATABASE ${name} SET default_transaction_read_only = ${readOnly}`,
      );
      network.cut();
    };
    try {
      await whatNewConnectionsFind("on");
      expect(await mint("on a standby")).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE" });
      const read = await service.grpc.call("GetAccount", { account_id: accountId });
      expect(read).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE" });
      const refused = await service.kesc("org", "create", "--name", "Standby");
      expect(refused.stderr).to.contain("this PostgreSQL server is read-only; it may be a standby");
      // An auditor may read there what has arrived.
      for (const command of [["verify"], ["book", "list"]]) {
        const { code, stderr } = await service.kesc(...command);
        expect(code, stderr).to.equal(0);
      }
    } finally {
      await whatNewConnectionsFind("off");
    }
    expect((await mint("on a standby")).code).to.equal(0);
  });
});
