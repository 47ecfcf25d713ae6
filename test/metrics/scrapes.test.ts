import { expect } from "chai";

import { readContract } from "../../src/grpc/messages/contract.js";
import type { CellState } from "../../src/metrics/ports.js";
import { ServerMetrics } from "../../src/metrics/server-metrics.js";
import { getAdmin, readMetrics, serveCell } from "../support/callers/served-metrics.js";

const EMPTY: CellState = {
  books: 0,
  supplyCents: 0,
  reserveGapCents: 0,
  reserveCents: 0,
  shortfallCents: 0,
  chargesCents: 0,
  payments: [],
  railAccounts: [],
  railWarnings: [],
  heldPayouts: { waiting: 0, oldestAt: undefined },
  payoutChecks: { waiting: 0, oldestAt: undefined },
  deposits: { waiting: 0, oldestAt: undefined, listReadAt: undefined },
  payouts: { partsWaiting: 0, oldestAt: undefined },
  webhooks: { endpoints: [], eventsBehind: 0, failingSince: undefined, retries: [] },
  seals: { rowsBehind: 0, oldestUnsealedAt: undefined, alarms: 0 },
  leases: [],
  actsWithoutPerson: undefined,
};

interface Served {
  readonly metrics: ServerMetrics;
  readonly scrape: () => ReturnType<typeof getAdmin>;
  /** Closes the server. Returns how often the database was read. */
  readonly close: () => Promise<number>;
}

async function serve(read: () => Promise<CellState>, given: { readonly seals?: boolean } = {}): Promise<Served> {
  const metrics = new ServerMetrics();
  let reads = 0;
  const readState = (): Promise<CellState> => {
    reads += 1;
    return read();
  };
  const admin = await serveCell(metrics, readState, given);
  return {
    metrics,
    scrape: () => getAdmin(admin.address),
    close: async () => {
      expect(await getAdmin(admin.address, "/readyz")).to.include({ status: 503 });
      await admin.close();
      return reads;
    },
  };
}

describe("scrapes", () => {
  it("of many at once read the database once, and get the same text", async () => {
    const { scrape, close } = await serve(() => Promise.resolve(EMPTY));
    const scrapes = await Promise.all(Array.from({ length: 30 }, scrape));
    expect(new Set(scrapes.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(new Set(scrapes.map(({ text }) => text)).size).to.equal(1);
    expect(await close()).to.equal(1);
  });

  it("show what the process knows when the database cannot be read", async () => {
    const { metrics, scrape, close } = await serve(() => Promise.reject(new Error("gone")));
    metrics.calls.refused("QUEUE_FULL");
    const served = readMetrics((await scrape()).text);
    expect(served.get("kesc_state_known")?.lines.get("kesc_state_known")).to.equal(0);
    expect(served.get("kesc_refusals_total")?.lines.size).to.equal(1);
    // A zero would look like a book without money.
    expect(served.get("kesc_supply_cents")?.lines.size).to.equal(0);
    expect(await close()).to.equal(1);
  });

  it("show no seals of a server that seals nothing", async () => {
    const { scrape, close } = await serve(() => Promise.resolve(EMPTY), { seals: false });
    expect((await scrape()).text).not.to.include("kesc_seal");
    await close();
  });

  it("show the streams that are open", async () => {
    const { metrics, scrape, close } = await serve(() => Promise.resolve(EMPTY));
    const rpcs = readContract().services.flatMap((service) => service.rpcs);
    const watch = rpcs.find(({ name }) => name === "EventService/WatchEvents") ?? expect.fail();
    const end = { code: "CANCELLED", reason: undefined, ms: 1, items: undefined, items_refused: undefined };
    for (let opened = 0; opened < 3; opened += 1) metrics.calls.rpc(watch).started();
    metrics.calls.rpc(watch).ended(end);
    const served = readMetrics((await scrape()).text);
    const labels = 'grpc_type="server_stream",grpc_service="kesc.v1.EventService",grpc_method="WatchEvents"';
    expect(served.get("kesc_grpc_streams_open")?.lines.get(`kesc_grpc_streams_open{${labels}}`)).to.equal(2);
    const handled = `grpc_server_handled_total{${labels},grpc_code="Canceled"}`;
    expect(served.get("grpc_server_handled_total")?.lines.get(handled)).to.equal(1);
    await close();
  });
});
