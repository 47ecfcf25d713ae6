import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect } from "chai";

import { type Reading, readingOf } from "../../../src/cli/top/reading.js";
import { Scrape } from "../../../src/cli/top/scrape.js";
import { linesOf } from "../../../src/cli/top/screen.js";
import { kesc } from "../../support/service/kesc.js";

const BEFORE = `
# HELP grpc_server_handled_total Calls that ended.
grpc_server_handled_total{grpc_type="unary",grpc_service="kesc.v1.TransactionService",grpc_method="Mint",grpc_code="OK"} 100
grpc_server_handled_total{grpc_type="unary",grpc_service="kesc.v1.TransactionService",grpc_method="Mint",grpc_code="NOT_FOUND"} 0
grpc_server_handling_seconds_bucket{le="0.01",grpc_method="Mint"} 100
grpc_server_handling_seconds_bucket{le="0.1",grpc_method="Mint"} 100
grpc_server_handling_seconds_bucket{le="+Inf",grpc_method="Mint"} 100
grpc_server_handling_seconds_sum{grpc_method="Mint"} 0.5
grpc_server_handling_seconds_count{grpc_method="Mint"} 100
kesc_commit_batch_size_sum{cell="0"} 100
kesc_commit_batch_size_count{cell="0"} 50
kesc_commit_seconds_count{cell="0"} 50
kesc_refusals_total{reason="ACCOUNT_NOT_FOUND"} 0
process_cpu_seconds_total 10
`;
const AFTER = `
grpc_server_handled_total{grpc_type="unary",grpc_service="kesc.v1.TransactionService",grpc_method="Mint",grpc_code="OK"} 290
grpc_server_handled_total{grpc_type="unary",grpc_service="kesc.v1.TransactionService",grpc_method="Mint",grpc_code="NOT_FOUND"} 10
grpc_server_handling_seconds_bucket{le="0.01",grpc_method="Mint"} 250
grpc_server_handling_seconds_bucket{le="0.1",grpc_method="Mint"} 300
grpc_server_handling_seconds_bucket{le="+Inf",grpc_method="Mint"} 300
grpc_server_handling_seconds_sum{grpc_method="Mint"} 1.5
grpc_server_handling_seconds_count{grpc_method="Mint"} 300
kesc_commit_batch_size_sum{cell="0"} 300
kesc_commit_batch_size_count{cell="0"} 100
kesc_commit_seconds_count{cell="0"} 100
kesc_refusals_total{reason="ACCOUNT_NOT_FOUND"} 10
kesc_queue_length{cell="0"} 3
kesc_queue_age_seconds{cell="0"} 0.002
kesc_state_known 1
kesc_books{cell="0"} 2
kesc_books{cell="1"} 3
kesc_supply_cents{cell="0"} 123456
kesc_shortfall_cents{cell="0"} 0
kesc_seal_rows_behind{cell="0"} 7
kesc_seal_alarms{cell="0"} 1
kesc_lease_left_seconds{cell="0",lease="settlement"} 58
kesc_lease_left_seconds{cell="1",lease="settlement"} 45
kesc_lease_left_seconds{cell="0",lease="webhooks"} 58
kesc_lease_left_seconds{cell="1",lease="webhooks"} 12
process_cpu_seconds_total 11
process_resident_memory_bytes 104857600
`;

const reading = (changes = ""): Reading => readingOf(new Scrape(BEFORE, 0), new Scrape(AFTER + changes, 2_000));

describe("kesc top", () => {
  it("reads rates, means and quantiles between two looks", () => {
    const { calls, commits, process } = reading();
    expect(calls).to.deep.equal({
      per_second: 100,
      refused_per_second: { ACCOUNT_NOT_FOUND: 5 },
      rpcs: [{ method: "Mint", per_second: 100, not_ok_per_second: 5, p50_seconds: 0.01, p99_seconds: 0.1 }],
      streams_open: 0,
    });
    expect(commits).to.include({ per_second: 25, commands_each: 4, p99_seconds: null });
    expect(process).to.include({ cores: 0.5, resident_bytes: 104_857_600 });
  });

  it("counts from zero after the server has started again", () => {
    expect(readingOf(new Scrape(AFTER, 0), new Scrape(BEFORE, 1_000)).calls.per_second).to.equal(100);
  });

  it("adds the cells, and says what is wrong in red", () => {
    const lines = linesOf(reading(), { address: "127.0.0.1:9464", colours: true }).join("\n");
    expect(lines).to.include("KES 1234.56; organizations: 5");
    expect(lines).to.include("\u001B[31m1 ALARMS\u001B[39m");
    const plain = linesOf(reading(), { address: "127.0.0.1:9464", colours: false });
    expect(plain.join("\n")).to.not.include("\u001B");
    expect(plain).to.include("refused    ACCOUNT_NOT_FOUND 5.0");
  });

  it("says which work stands still, because its server has not renewed the lease", () => {
    const lines = (changes = ""): string[] => linesOf(reading(changes), { address: "", colours: false });
    expect(lines()).to.include("leases     webhooks: not renewed, free in 12 s");
    expect(lines('kesc_lease_left_seconds{cell="2",lease="webhooks"} 0')).to.include("leases     webhooks: free");
    const held = readingOf(
      new Scrape("", 0),
      new Scrape(AFTER.replace('lease="webhooks"} 12', 'lease="webhooks"} 50'), 1),
    );
    expect(linesOf(held, { address: "", colours: false })).to.include("leases     settlement, webhooks: held");
  });

  it("says that the database could not be read", () => {
    const { books } = readingOf(new Scrape(BEFORE, 0), new Scrape(BEFORE, 1));
    expect(books).to.equal(null);
    const blind = linesOf({ ...reading(), books }, { address: "", colours: false });
    expect(blind).to.include("The server could not read its database lately.");
  });

  it("shows one look at a server as JSON, and as lines", async () => {
    let looks = 0;
    const server = createServer((_, response) => {
      looks += 1;
      response.end(looks % 2 === 1 ? BEFORE : AFTER);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    try {
      const json = await kesc(["top", "--once", "--json", "--interval", "1s", "--address", address], {});
      expect((JSON.parse(json.stdout) as Reading).books).to.include({ organizations: 5, supply_cents: 123_456 });
      const lines = await kesc(["top", "--once", "--interval", "1s"], { KESC_ADMIN_ADDRESS: address });
      expect(lines.stdout).to.match(/^KESC {2}127\.0\.0\.1:[\s\S]*\nMint +/);
    } finally {
      server.close();
    }
  });

  it("says what to do if there are no metrics", async () => {
    const { code, stderr } = await kesc(["top", "--address", "127.0.0.1:1"], {});
    expect(code).to.equal(1);
    expect(stderr).to.match(/There are no metrics at 127\.0\.0\.1:1: .*KESC_ADMIN_ADDRESS/);
  });
});
