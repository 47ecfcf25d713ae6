import { expect } from "chai";
import { pino } from "pino";

import { startServer } from "../../src/server.js";
import { OperatorError } from "../../src/startup/operator-error.js";
import { getAdmin, readMetrics } from "../support/callers/served-metrics.js";
import { configOf } from "../support/config.js";
import { openTestDatabase } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const ADMIN = { KESC_ADMIN_ADDRESS: "127.0.0.1:0" };

describe("the metrics of the server and the gateway", () => {
  let running: InProcess;
  before(async () => {
    running = await startInProcess("sqlite", undefined, ADMIN);
  });
  after(() => running.dispose());

  const admin = (path?: string, method?: string) => getAdmin(running.adminAddress ?? "", path, method);
  const lines = (text: string): ReadonlyMap<string, number> =>
    new Map([...readMetrics(text).values()].flatMap((metric) => [...metric.lines]));

  it("count a mint over REST and a refusal, and show the supply", async () => {
    const { rest, grpc, a } = running;
    const key = { key: a.key };
    const account = await rest.send("POST", "/accounts", {
      ...key,
      body: { user_id: "u", phone_number: "0712345678", email: "u@example.com" },
    });
    const id = String(account.json["id"]);
    const mint = { account_id: id, amount: "12.50", reference: "one" };
    expect((await rest.send("POST", "/transactions/mint", { ...key, body: mint })).status).to.equal(201);
    const unknown = { ...mint, account_id: id.replace(/.$/, (last) => (last === "0" ? "1" : "0")), reference: "two" };
    expect((await grpc.call("Mint", unknown, key)).reason).to.equal("ACCOUNT_NOT_FOUND");
    const batch = { requests: [{ mint: { ...mint, reference: "three" } }, { mint: unknown }] };
    await grpc.call("BatchCreateTransactions", batch, key);
    await rest.send("GET", "/accounts/acc_0", key);
    await rest.send("GET", "/nowhere/at/all", key);

    let server = lines("");
    // A scrape does without the figures of a database that has no time for them.
    await eventually(async () => {
      server = lines((await admin()).text);
      return server.get("kesc_state_known") === 1;
    });
    const mints = 'grpc_type="unary",grpc_service="kesc.v1.TransactionService",grpc_method="Mint"';
    expect(server.get(`grpc_server_started_total{${mints}}`)).to.equal(2);
    expect(server.get(`grpc_server_handled_total{${mints},grpc_code="OK"}`)).to.equal(1);
    expect(server.get(`grpc_server_handled_total{${mints},grpc_code="NotFound"}`)).to.equal(1);
    expect(server.get(`grpc_server_handling_seconds_count{${mints}}`)).to.equal(2);
    // Over gRPC, and over REST for an account.
    expect(server.get('kesc_refusals_total{reason="ACCOUNT_NOT_FOUND"}')).to.equal(2);
    expect(server.get('kesc_batch_items_total{result="done"}')).to.equal(1);
    expect(server.get('kesc_batch_items_total{result="refused"}')).to.equal(1);
    expect(server.get('kesc_commit_batch_size_sum{cell="0"}')).to.equal(5);
    expect(server.get('kesc_supply_cents{cell="0"}')).to.equal(2_500);
    expect(server.get('kesc_queue_length{cell="0"}')).to.equal(0);

    const gateway = lines((await running.gatewayMetrics?.text()) ?? "");
    expect(gateway.get('kesc_http_requests_total{method="POST",route="/transactions/mint",status="2xx"}')).to.equal(1);
    expect(gateway.get('kesc_http_requests_total{method="GET",route="/accounts/{account_id}",status="4xx"}')).to.equal(
      1,
    );
    expect(gateway.get('kesc_http_requests_total{method="GET",route="none",status="4xx"}')).to.equal(1);
    expect(gateway.get('kesc_http_refusals_total{code="NO_SUCH_ROUTE"}')).to.equal(1);
    expect(gateway.get("kesc_http_requests_in_flight")).to.equal(0);
  });

  it("hold nothing of an organization or a caller", async () => {
    const { a, gatewayMetrics } = running;
    const text = (await admin()).text + String(await gatewayMetrics?.text());
    for (const word of [a.organizationId, a.key, "acc_", "nowhere", "0712345678", "u@example.com"]) {
      expect(text).not.to.include(word);
    }
  });

  it("have no series for a path or a method that a caller makes up", async () => {
    const { rest, gatewayMetrics } = running;
    const count = async (): Promise<number> => (String(await gatewayMetrics?.text()).match(/^kesc_/gm) ?? []).length;
    await rest.send("PROPFIND", "/made/up");
    const before = await count();
    for (let turn = 0; turn < 20; turn += 1) await rest.send("PROPFIND", `/made/up/${String(turn)}`);
    await rest.send("MKCOL", "/made/up");
    expect(await count()).to.equal(before);
  });

  it("are served beside the probes, and nothing else is", async () => {
    expect(await admin()).to.include({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8" });
    expect(await admin("/livez")).to.include({ status: 200, text: "ok\n" });
    expect(await admin("/readyz")).to.include({ status: 200, text: "ok\n" });
    expect(await admin("/accounts")).to.include({ status: 404 });
    expect(await admin("/metrics", "POST")).to.include({ status: 405 });
  });

  it("are off without an address", async () => {
    const opened = await openTestDatabase("sqlite");
    const logger = pino({ level: "silent" });
    const config = configOf({ KESC_GRPC_ADDRESS: "127.0.0.1:0" });
    const server = await startServer(config, { logger, database: opened.database });
    expect(server.adminAddress).to.equal(undefined);
    await server.stop();
    // The address of a server that runs: the error names the variable, and the database stays open.
    const used = configOf({ KESC_GRPC_ADDRESS: "127.0.0.1:0", KESC_ADMIN_ADDRESS: running.adminAddress ?? "" });
    const failed: unknown = await startServer(used, { logger, database: opened.database }).catch(
      (error: unknown) => error,
    );
    expect(failed).to.be.instanceOf(OperatorError);
    expect(String(failed)).to.match(/KESC_ADMIN_ADDRESS: .*EADDRINUSE/);
    await opened.dispose();
  });
});
