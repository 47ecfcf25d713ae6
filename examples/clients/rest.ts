// REST with types: those of openapi.json, which `npm run examples` writes. KESC_API_KEY is a key, KESC_URL the address of the gateway.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import createClient from "openapi-fetch";

import type { components, paths } from "./openapi.js";

type Event = components["schemas"]["Event"];

const kesc = createClient<paths>({
  baseUrl: process.env["KESC_URL"] ?? "http://127.0.0.1:8080",
  headers: { "X-API-Key": process.env["KESC_API_KEY"] ?? "" },
  fetch: fetchWithRetries,
});
const user = randomUUID();

const opened = await kesc.POST("/accounts", {
  body: { user_id: user, phone_number: "0712345678", email: "wanjiku@example.co.ke" },
});
if (opened.error) throw new Error(opened.error.detail);
const account_id = opened.data.id;
console.log("account", account_id);

// An amount in a request is a text: JSON.stringify would write 1000.00 as 1000, which is right, but not 0.1 + 0.2.
const deposit = { account_id, amount: "1000.00", reference: `deposit-${user}`, rail: "direct" };
const minted = await kesc.POST("/transactions/mint", { body: deposit });
if (minted.error) throw new Error(minted.error.detail);
console.log("minted", minted.data.amount.toFixed(2));

const payout = { account_id, amount: "250.00", reference: `payout-${user}`, rail: "direct" };
const redeemed = await kesc.POST("/transactions/redeem", { body: payout });
if (redeemed.error) throw new Error(redeemed.error.detail);
console.log("redeemed", redeemed.data.amount.toFixed(2));

// The reference makes a repeat safe.
const repeated = await kesc.POST("/transactions/mint", { body: deposit });
console.log("repeated:", repeated.data?.id === minted.data.id ? "the same transaction" : "ANOTHER ONE");

const tooMuch = { ...payout, amount: "1000.00", reference: `too-much-${user}` };
const { error } = await kesc.POST("/transactions/redeem", { body: tooMuch });
// The code narrows the type: only this problem has `available`.
if (error?.code === "INSUFFICIENT_FUNDS") console.log("refused:", error.code, error.available?.toFixed(2));

const types: string[] = [];
for await (const event of watch({ account_id })) {
  types.push(event.type);
  if (types.length === 3) break;
}
console.log("events:", types.join(" "));

console.log("webhook:", await receiveTestEvent());

/** Repeats a call that may succeed soon, at most five times: 429 and 503 say when. */
async function fetchWithRetries(request: Request): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(request.clone()).catch((problem: unknown) => {
      if (tries === 5) throw problem;
    });
    const seconds = Number(response?.headers.get("Retry-After") ?? 1);
    if (response !== undefined && (tries === 5 || (response.status !== 429 && response.status !== 503)))
      return response;
    await sleep(seconds * 1_000);
  }
}

/** The events of the account, and then each new one. A program stores event.sequence, and begins after it the next time. */
async function* watch(query: { account_id: string; after_sequence?: number }): AsyncGenerator<Event> {
  const headers = { Accept: "text/event-stream" };
  const { data, error: refusal } = await kesc.GET("/events", { params: { query }, headers, parseAs: "stream" });
  if (!data) throw new Error(refusal?.detail);
  let pending = "";
  for await (const chunk of data.pipeThrough(new TextDecoderStream())) {
    const blocks = (pending + chunk).split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const line = block.split("\n").find((each) => each.startsWith("data: "));
      // A block without data is a heartbeat.
      if (line !== undefined) yield JSON.parse(line.slice("data: ".length)) as Event;
    }
  }
}

/** Receives one webhook. The server must allow this machine: KESC_WEBHOOKS_ALLOW=127.0.0.1. */
async function receiveTestEvent(): Promise<string> {
  let secret = "";
  let received = "nothing";
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      const genuine = isGenuine(secret, request.headers, body);
      if (genuine) received = (JSON.parse(body) as Event).type;
      response.writeHead(genuine ? 204 : 400).end();
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const url = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/hooks`;
  try {
    const made = await kesc.POST("/webhook-endpoints", { body: { url, types: ["transaction.completed"] } });
    if (made.error?.code === "INVALID_FIELD") return "not allowed";
    if (made.error) throw new Error(made.error.detail);
    secret = made.data.secret ?? "";
    const params = { path: { webhook_endpoint_id: made.data.id } };
    await kesc.POST("/webhook-endpoints/{webhook_endpoint_id}/test", { params, body: {} });
    await kesc.DELETE("/webhook-endpoints/{webhook_endpoint_id}", { params });
    return received;
  } finally {
    receiver.close();
  }
}

/** As docs/webhooks.md says. The body is the text as it came. */
function isGenuine(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
  const id = String(headers["webhook-id"]);
  const time = String(headers["webhook-timestamp"]);
  if (!(Math.abs(Date.now() / 1_000 - Number(time)) < 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64")}`);
  return String(headers["webhook-signature"])
    .split(" ")
    .map((signature) => Buffer.from(signature))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
