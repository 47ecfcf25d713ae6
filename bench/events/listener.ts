/**
 * The process with the watchers over gRPC and the receiver of webhooks. When it is ready, it tells
 * the address of the receiver.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Client, credentials, Metadata } from "@grpc/grpc-js";

import { EventServiceService } from "../../src/gen/kesc/v1/event_service.js";
import { quantile } from "../report/figures.js";
import type { Heard, ListenerRequest } from "./listening.js";

/** A server takes this many calls on a connection at least. */
const WATCHERS_OF_CONNECTION_MAX = 50;

let lagsMillis: number[] = [];
let deliveries = 0;
let problem: string | undefined;

process.on("message", (request: ListenerRequest) => {
  if (request === "report") report();
  else void watchAll(request);
});
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0));

const receiver = createServer((request, response) => {
  deliveries += 1;
  request.resume().on("end", () => response.writeHead(204).end());
});
receiver.listen(0, "127.0.0.1", () => {
  const { port } = receiver.address() as AddressInfo;
  process.send?.({ kind: "ready", address: `127.0.0.1:${String(port)}` });
});

/** Opens a watcher for each key, and tells when each has had its first message. */
async function watchAll({ address, keys }: Exclude<ListenerRequest, "report">): Promise<void> {
  for (let from = 0; from < keys.length; from += WATCHERS_OF_CONNECTION_MAX) {
    // Without options of its own, each client would share one connection.
    const client = new Client(address, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    await Promise.all(keys.slice(from, from + WATCHERS_OF_CONNECTION_MAX).map((key) => watch(client, key)));
  }
  process.send?.("watching");
}

function watch(client: Client, key: string): Promise<void> {
  const metadata = new Metadata();
  metadata.set("x-api-key", key);
  const { path, requestSerialize, responseDeserialize } = EventServiceService.watchEvents;
  const request = { after_sequence: 0n, types: [], account_id: "" };
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata);
  stream.on("data", ({ events }: ReturnType<typeof responseDeserialize>) => {
    const now = Date.now();
    for (const { recorded_at: at } of events) {
      if (at !== undefined) lagsMillis.push(now - Number(at.seconds) * 1_000 - at.nanos / 1_000_000);
    }
  });
  stream.on("error", (error) => {
    problem ??= error.message;
  });
  return new Promise((resolve) => stream.once("data", resolve).once("error", resolve));
}

/** Tells what was heard since the last report. */
function report(): void {
  const heard: Heard = { events: lagsMillis.length, deliveries, lagP99Millis: quantile(lagsMillis, 0.99), problem };
  lagsMillis = [];
  deliveries = 0;
  process.send?.(heard);
}
