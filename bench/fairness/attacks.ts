import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";

import { AccountServiceService as accounts } from "../../src/gen/kesc/v1/account_service.js";
import { RailServiceService } from "../../src/gen/kesc/v1/rail_service.js";
import { TransactionServiceService as rpcs } from "../../src/gen/kesc/v1/transaction_service.js";
import { WebhookServiceService as webhooks } from "../../src/gen/kesc/v1/webhook_service.js";
import { driveBatches } from "../load/batch-load.js";
import { mintRequest } from "../load/calls.js";
import { GrpcConnection } from "../load/grpc-connection.js";
import { headersOf } from "../load/grpc-load.js";
import { Pace } from "../load/pace.js";
import type { CallInFlight } from "../load/tally.js";
import { MPESA } from "../rails/rail-account.js";
import type { Attack, HostileJob } from "./attack.js";
import {
  idleConnections,
  rapidReset,
  restFlood,
  restStreams,
  slowRequests,
  unfinishedRequests,
} from "./raw-attacks.js";
import { exportAll, watchAll } from "./stream-attacks.js";
import { EVERYTHING, PAGE, worstLists } from "./worst-lists.js";

interface Flood {
  path: string;
  request: (call: CallInFlight) => Uint8Array;
  connections: number;
  /** Calls in flight on each connection. */
  inFlight: number;
  /** The key of each call in turn; absent: the first one. */
  key?: () => string;
  /** Calls a second on each connection; absent: as many as there are answers. */
  pace?: number;
}

/** Keeps calls in flight. An answer, whatever it says, starts the next call. */
function flood({ hostile, tally }: Attack, { path, request, connections, inFlight, key, pace }: Flood): void {
  const headers = (apiKey: string): Buffer => headersOf({ address: hostile.grpcAddress, path, apiKey });
  const call = { path, encode: request, check: () => undefined };
  const common = { address: hostile.grpcAddress, call, inFlight, tally };
  const own = headers(hostile.keys[0]);
  for (let opened = 0; opened < connections; opened++) {
    new GrpcConnection({
      ...common,
      pace: pace === undefined ? undefined : new Pace(pace, performance.now()),
      headers: key === undefined ? own : () => headers(key()),
    });
  }
}

function lists(attack: Attack): void {
  const requests = worstLists(attack.hostile.accountIds[0] ?? "").map((one) =>
    rpcs.listTransactions.requestSerialize(one),
  );
  const request = ({ serial }: CallInFlight): Uint8Array => requests[serial % requests.length] ?? NOTHING;
  flood(attack, { path: rpcs.listTransactions.path, request, connections: 1, inFlight: 40 });
}

/** The database rejects a mint whose reference begins so (given.ts). */
export const POISON = "poison";
const NOTHING = new Uint8Array();
/** A forged token has the length of a right one. */
const TOKEN_BYTES = 36;
const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** `file_containing_symbol` of the service with the largest answer. */
const SYMBOL = "kesc.v1.TransactionService";
const REFLECTION_REQUEST = Buffer.concat([Buffer.of(0x22, SYMBOL.length), Buffer.from(SYMBOL)]);

const everyCall = (bytes: Uint8Array) => () => bytes;
const randomKey = (): string => `kesc_0_${randomBytes(32).toString("base64url")}`;
const everything = rpcs.listTransactions.requestSerialize(EVERYTHING);
const allAccounts = accounts.listAccounts.requestSerialize({
  ...PAGE,
  user_id: "",
  phone_number: "",
  email: "",
  statuses: [],
  tier: "",
  deposit_reference: "",
  account_ids: [],
  start: "",
  end: "",
});

/** A read of an account on each of forty connections, with a hundred in flight. */
function reads(attack: Attack, key?: () => string): void {
  const request = everyCall(
    accounts.getAccount.requestSerialize({
      account_id: attack.hostile.accountIds[0] ?? "",
      as_of_time: undefined,
      as_of_sequence: undefined,
    }),
  );
  const path = accounts.getAccount.path;
  flood(attack, { path, request, connections: 40, inFlight: 100, ...(key === undefined ? {} : { key }) });
}

function mints(attack: Attack, { accountIds, rail = "" }: { accountIds: string[]; rail?: string }): void {
  const job = { ...attack.job, accountIds };
  const request = (call: CallInFlight): Uint8Array => {
    const account = call.account % accountIds.length;
    return rpcs.mint.requestSerialize({ ...mintRequest(job, { ...call, account }), rail });
  };
  flood(attack, { path: rpcs.mint.path, request, connections: 10, inFlight: 1_000 });
}

/** Sends callbacks without a key, each with another text. */
function callbacks(attack: Attack, token: () => string): void {
  const { path, requestSerialize } = RailServiceService.receiveCallback;
  const request = ({ serial }: CallInFlight): Uint8Array => {
    const body = {
      content_type: "application/json",
      data: Buffer.from(`{"serial":${String(serial)}}`),
      extensions: [],
    };
    return requestSerialize({ token: token(), body });
  };
  flood(attack, { path, request, connections: 40, inFlight: 100, key: () => "" });
}

/** Tells of payments by hand at a steady rate, each of another receipt. */
function payments(attack: Attack, { token, pace }: { token: string; pace: number }): void {
  const { path, requestSerialize } = RailServiceService.receiveCallback;
  const request = ({ serial }: CallInFlight): Uint8Array => {
    const TransID = `SB${String(serial).padStart(8, "0")}`;
    const payment = { TransID, TransAmount: "10", BillRefNumber: attack.hostile.depositReference };
    const data = Buffer.from(JSON.stringify({ TransactionType: "Pay Bill", ...payment }));
    return requestSerialize({ token, body: { content_type: "application/json", data, extensions: [] } });
  };
  flood(attack, { path, request, connections: 1, inFlight: 1_000, key: () => "", pace });
}

/** Changes one endpoint again and again. Each change is a row of the book. */
async function webhookChanges(attack: Attack): Promise<void> {
  const { httpAddress, keys } = attack.hostile;
  // The first key has the scopes of older builds, and the others have all.
  const [, ...others] = keys;
  const created = await fetch(`http://${httpAddress}/webhook-endpoints`, {
    method: "POST",
    headers: { "x-api-key": others[0] ?? "", "content-type": "application/json" },
    // An endpoint of an earlier round has another description by now.
    body: JSON.stringify({ url: `https://example.com/${String(Date.now())}` }),
  });
  const { id } = (await created.json()) as { id: string };
  const request = ({ serial }: CallInFlight): Uint8Array =>
    webhooks.updateWebhookEndpoint.requestSerialize({
      webhook_endpoint_id: id,
      url: undefined,
      types: [],
      description: `change ${String(serial)}`,
      status: undefined,
    });
  const { path } = webhooks.updateWebhookEndpoint;
  let next = 0;
  flood(attack, { path, request, connections: 40, inFlight: 100, key: () => others[next++ % others.length] ?? "" });
}

/** Runs `kesc verify` again and again. It is no attack, but it reads all rows beside the others. */
function audits({ kesc, databaseUrl }: Pick<HostileJob, "kesc" | "databaseUrl">): void {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const child = spawn(kesc, ["verify"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const stop = (): void => {
    child.kill();
    process.exit(0);
  };
  process.once("SIGTERM", stop);
  child.once("close", () => {
    process.off("SIGTERM", stop);
    // The row `poison` makes it find a constraint of its own. It still reads all rows.
    if (!output.includes("journal rows")) throw new Error(`kesc verify read no rows: ${output}`);
    audits({ kesc, databaseUrl });
  });
}

/** The attacks by the name of their row in docs/fairness.md. */
export const ATTACKS = {
  lists,
  pages: (attack) => {
    flood(attack, { path: rpcs.listTransactions.path, request: everyCall(everything), connections: 1, inFlight: 40 });
  },
  accounts: (attack) => {
    flood(attack, { path: accounts.listAccounts.path, request: everyCall(allAccounts), connections: 1, inFlight: 40 });
  },
  reads: (attack) => {
    reads(attack);
  },
  mints: (attack) => {
    mints(attack, attack.hostile);
  },
  poison: (attack) => {
    const request = (call: CallInFlight): Uint8Array => {
      const reference = `${POISON}-${String(call.serial)}`;
      return rpcs.mint.requestSerialize({ ...mintRequest(attack.job, call), reference });
    };
    flood(attack, { path: rpcs.mint.path, request, connections: 1, inFlight: 2 });
  },
  "rail-mints": (attack) => {
    mints(attack, { accountIds: attack.hostile.accountIds, rail: MPESA });
  },
  payments: (attack) => {
    const request = everyCall(rpcs.getPayment.requestSerialize({ transaction_id: attack.hostile.paidTransactionId }));
    flood(attack, { path: rpcs.getPayment.path, request, connections: 40, inFlight: 100 });
  },
  callbacks: (attack) => {
    callbacks(attack, () => attack.hostile.callbackToken);
  },
  "forged-callbacks": (attack) => {
    callbacks(attack, () => randomBytes(TOKEN_BYTES).toString("hex"));
  },
  confirmations: (attack) => {
    payments(attack, { token: attack.hostile.confirmationToken, pace: 1_000 });
  },
  validations: (attack) => {
    payments(attack, { token: attack.hostile.validationToken, pace: 200 });
  },
  "hot-account": (attack) => {
    mints(attack, { accountIds: attack.hostile.accountIds.slice(0, 1) });
  },
  batches: ({ job, tally }) => {
    void driveBatches({ ...job, inFlight: 40 }, tally);
  },
  invalid: (attack) => {
    // Metadata that is decoded before it is refused, as much as fits into a frame.
    const metadata = new Map(Array.from({ length: 700 }, (_, index) => [`key-${String(index)}`, "a value"]));
    const movement = {
      $case: "mint" as const,
      value: {
        account_id: "",
        amount: "",
        reference: "",
        description: "",
        metadata,
        rail: "",
        payer_phone_number: "",
        receipt: undefined,
      },
    };
    const requests = [{ movement, idempotency_key: "" }];
    const request = everyCall(rpcs.batchCreateTransactions.requestSerialize({ requests }));
    flood(attack, { path: rpcs.batchCreateTransactions.path, request, connections: 40, inFlight: 4 });
  },
  keys: (attack) => {
    let next = 0;
    const { keys } = attack.hostile;
    reads(attack, () => keys[next++ % keys.length] ?? "");
  },
  "random-keys": (attack) => {
    reads(attack, randomKey);
  },
  "no-key": (attack) => {
    reads(attack, () => "");
  },
  checks: (attack) => {
    flood(attack, { path: CHECK, request: everyCall(NOTHING), connections: 40, inFlight: 100 });
  },
  watches: (attack) => {
    flood(attack, { path: WATCH, request: everyCall(NOTHING), connections: 40, inFlight: 1_000 });
  },
  reflection: (attack) => {
    flood(attack, { path: REFLECTION, request: everyCall(REFLECTION_REQUEST), connections: 40, inFlight: 100 });
  },
  "webhook-changes": (attack) => {
    void webhookChanges(attack);
  },
  "slow-requests": slowRequests,
  "unfinished-requests": unfinishedRequests,
  "rapid-reset": rapidReset,
  "idle-connections": idleConnections,
  "rest-no-route": (attack) => {
    restFlood(attack, () => "GET /nothing HTTP/1.1\r\nHost: kesc\r\n\r\n");
  },
  "rest-readyz": (attack) => {
    restFlood(attack, () => "GET /readyz HTTP/1.1\r\nHost: kesc\r\n\r\n");
  },
  "rest-random-keys": (attack) => {
    restFlood(attack, () => `GET /accounts HTTP/1.1\r\nHost: kesc\r\nX-API-Key: ${randomKey()}\r\n\r\n`);
  },
  "rest-streams": restStreams,
  exports: exportAll,
  "events-and-mints": (attack) => {
    watchAll(attack);
    mints(attack, attack.hostile);
  },
  verify: ({ hostile }) => {
    audits(hostile);
  },
  "rest-deep-json": (attack) => {
    const body = "[".repeat(200_000);
    const head = `POST /transactions/batch HTTP/1.1\r\nHost: kesc\r\nContent-Type: application/json\r\n`;
    restFlood(attack, () => `${head}Content-Length: ${String(body.length)}\r\n\r\n${body}`);
  },
} satisfies Record<string, (attack: Attack) => void>;
