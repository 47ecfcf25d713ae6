import type { JsonObject } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";

import { newAccountId, newDestinationId, newFreezeId, newTransactionId } from "../names.js";
import { OPERATION_ROWS } from "../operations/table.js";
import { fresh, type RpcRequest, type Things } from "../operations/things.js";
import { movement } from "../operations/transactions.js";
import { restRequest, routeOf } from "./contract-requests.js";
import type { RestCaller } from "./rest-caller.js";

// The loopback has no public address, so no event is sent anywhere.
const WEBHOOK_URL = "https://localhost/";
// The period is not over.
const PERIOD = { start: "2026-01-01", end: "2126-01-01" };

const ofTransaction = ({ transaction_id }: Things): JsonObject => ({ transaction_id });
const movements = ({ account_id }: Things): JsonObject => ({
  requests: [{ mint: movement(account_id, "1.00") }, { redeem: movement(account_id, "0.01") }],
});

/** Those of the rpcs that are operations. */
const OF_OPERATIONS = Object.fromEntries(
  Object.entries(OPERATION_ROWS).flatMap(([name, { rpc }]) =>
    rpc === undefined ? [] : [[`${name.charAt(0).toUpperCase()}${name.slice(1)}`, rpc]],
  ),
);

/**
 * The requests of rpcs, by their names, that are not plain. The tests of isolation and of
 * reflection call each rpc of the contract.
 */
export const RPC_REQUESTS: Readonly<Record<string, RpcRequest>> = {
  ...OF_OPERATIONS,
  ListFreezes: { request: ({ frozen_id }) => ({ account_id: frozen_id }) },
  BatchCreateTransactions: { request: movements },
  ImportTransactions: { request: movements },
  // The rail of the transaction is direct. Tests of their own have transactions on other rails.
  GetPayment: { request: ofTransaction, code: Status.NOT_FOUND },
  // No caller can make a deposit. test/e2e/deposits-get.test.ts has some.
  GetDeposit: {
    request: ({ transaction_id }) => ({ deposit_id: transaction_id }),
    code: Status.NOT_FOUND,
  },
  ListEvents: { request: ({ account_id }) => ({ account_id, page_size: 200 }) },
  // The book does not have the event, so the stream ends.
  WatchEvents: {
    request: ({ account_id }) => ({ account_id, after_sequence: 1_000_000_000 }),
    code: Status.INVALID_ARGUMENT,
  },
  // The book has no seals. test/e2e/books-*.test.ts have sealed books.
  GetCheckpoint: { request: () => ({}), code: Status.NOT_FOUND },
  GetInclusionProof: { request: ofTransaction, code: Status.NOT_FOUND },
  GetConsistencyProof: { request: () => ({ old_size: 1 }), code: Status.NOT_FOUND },
  CreateWebhookEndpoint: { request: () => ({ url: WEBHOOK_URL }) },
  UpdateWebhookEndpoint: {
    request: ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, description: "new" }),
  },
  DeleteWebhookEndpoint: {
    request: ({ spare_endpoint_id }) => ({ webhook_endpoint_id: spare_endpoint_id }),
  },
  ResendWebhookDelivery: {
    request: ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, sequence: 1 }),
  },
  ReplayWebhookEvents: {
    request: ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, start_sequence: 1, end_sequence: 2 }),
  },
  GetStatement: {
    request: ({ account_id }) => ({ account_id, start: "2026-01-01", end: "2026-01-02" }),
  },
  ExportStatement: {
    request: ({ account_id }) => ({ account_id, ...PERIOD }),
    code: Status.INVALID_ARGUMENT,
  },
  ExportJournal: { request: () => PERIOD, code: Status.INVALID_ARGUMENT },
  ExportGeneralLedger: { request: () => PERIOD, code: Status.INVALID_ARGUMENT },
  AdvanceTransaction: { request: ofTransaction, code: Status.NOT_FOUND },
  CreateDeposit: {
    request: () => ({ amount: "1.00", receipt: "SB1" }),
    code: Status.FAILED_PRECONDITION,
  },
  // Every caller gets the same response, whatever the token is.
  ReceiveCallback: {
    request: () => ({ token: "x", body: { content_type: "text/plain", data: "aGVsbG8=" } }),
  },
};

/** The row of an rpc. Without one, its request is plain, and the call is OK. */
export function rpcRequest(name: string): RpcRequest {
  return RPC_REQUESTS[name.slice(name.lastIndexOf("/") + 1)] ?? { request: plainRequest(name) };
}

/** Each field that is named as a thing has it. A note has words. */
function plainRequest(name: string): RpcRequest["request"] {
  const fields = routeOf(name).rpc.input.fields.map((field) => field.name);
  const named = THINGS.filter((thing) => fields.includes(thing));
  return (things) => ({
    ...Object.fromEntries(named.map((thing) => [thing, things[thing]])),
    ...(fields.includes("note") ? { note: fresh() } : {}),
  });
}

/**
 * Whether the request names a thing of an organization. A request that names none makes or lists
 * the caller's own.
 */
export function namesThings({ request }: RpcRequest): boolean {
  let named = false;
  const watched = new Proxy({} as Things, {
    get: () => {
      named = true;
      return "";
    },
  });
  request(watched);
  return named;
}

/** Makes the things of the organization with this key. Rejects if a call is refused. */
export async function makeThings(rest: RestCaller["send"], key: string): Promise<Things> {
  const call = async (rpc: string, message: JsonObject): Promise<Readonly<Record<string, unknown>>> => {
    const { method, path, body } = restRequest(routeOf(rpc), message);
    const { status, json, text } = await rest(method, path, { key, body });
    if (status !== 201 && status !== 200) throw new Error(`${rpc}: ${text}`);
    return json;
  };
  const newAccount = async (user_id: string): Promise<string> =>
    String((await call("CreateAccount", { user_id, phone_number: "0712345678" }))["id"]);
  const newEndpoint = async (): Promise<string> =>
    String((await call("CreateWebhookEndpoint", { url: WEBHOOK_URL + fresh() }))["id"]);
  const newDestination = async (account: string, number: string): Promise<string> =>
    String((await call("CreateDestination", { account_id: account, kind: 2, number }))["id"]);
  const [user_id, reference] = [fresh(), fresh()];
  const [account_id, frozen_id] = [await newAccount(user_id), await newAccount(fresh())];
  const transaction = await call("Mint", { account_id, amount: "100.00", reference });
  const frozen = await call("FreezeAccount", { account_id: frozen_id, reason: 1 });
  return {
    account_id,
    frozen_id,
    freeze_id: (frozen["freeze"] as { readonly id: string }).id,
    transaction_id: String(transaction["id"]),
    user_id,
    reference,
    webhook_endpoint_id: await newEndpoint(),
    spare_endpoint_id: await newEndpoint(),
    destination_id: await newDestination(account_id, "5432321"),
    spare_destination_id: await newDestination(account_id, "5432323"),
  };
}

/** Things that nobody has. */
export function missingThings(): Things {
  return {
    account_id: newAccountId(),
    frozen_id: newAccountId(),
    freeze_id: newFreezeId(),
    transaction_id: newTransactionId(),
    user_id: fresh(),
    reference: fresh(),
    webhook_endpoint_id: "whe_01jd2r6p5vf8ksw3xhb1z7q400",
    spare_endpoint_id: "whe_01jd2r6p5vf8ksw3xhb1z7q400",
    destination_id: newDestinationId(),
    spare_destination_id: newDestinationId(),
  };
}

const THINGS = Object.keys(missingThings()) as readonly (keyof Things)[];
