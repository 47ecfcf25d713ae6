import type { JsonObject } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";

import { newAccountId, newDestinationId, newFreezeId, newTransactionId } from "../commands.js";
import { restRequest, routeOf } from "./contract-requests.js";
import type { RestCaller } from "./rest-caller.js";

/** The things of an organization that a request may name. */
export interface Things {
  readonly account_id: string;
  /** An account with a freeze, and that freeze. */
  readonly frozen_id: string;
  readonly freeze_id: string;
  readonly transaction_id: string;
  readonly user_id: string;
  readonly reference: string;
  readonly webhook_endpoint_id: string;
  /** Another endpoint, which a call deletes. */
  readonly spare_endpoint_id: string;
  readonly destination_id: string;
  /** Another destination, which a call removes. */
  readonly spare_destination_id: string;
}

/** How the tests call an rpc. */
export interface RpcRequest {
  /**
   * Returns a request as protobuf's JSON, with enum values by number. It must set every field that
   * can name a thing: isolation calls the rpc with the things of another organization.
   */
  readonly request: (things: Things) => JsonObject;
  /** The status of the call with the organization's own things. By default OK. */
  readonly code?: Status;
  /** The status of a second call, if that differs. */
  readonly repeatCode?: Status;
}

// The loopback has no public address, so no event is sent anywhere.
const WEBHOOK_URL = "https://localhost/";
// The period is not over.
const PERIOD = { start: "2026-01-01", end: "2126-01-01" };

let names = 0;

/** A name that no other request has. */
function fresh(): string {
  names += 1;
  return `requested-${String(names)}`;
}

const ofAccount = ({ account_id }: Things): JsonObject => ({ account_id });
const ofTransaction = ({ transaction_id }: Things): JsonObject => ({ transaction_id });
const movement = (account_id: string, amount: string): JsonObject => ({
  account_id,
  amount,
  reference: fresh(),
});
const movements = ({ account_id }: Things): JsonObject => ({
  requests: [{ mint: movement(account_id, "1.00") }, { redeem: movement(account_id, "0.01") }],
});

/**
 * The requests of rpcs, by their names, that are not plain. The tests of isolation and of
 * reflection call each rpc of the contract.
 */
export const RPC_REQUESTS: Readonly<Record<string, RpcRequest>> = {
  "AccountService/CreateAccount": {
    request: () => ({ user_id: fresh(), phone_number: "0712345678" }),
  },
  "AccountService/UpdateAccount": { request: ({ account_id }) => ({ account_id, phone_number: "0733111222" }) },
  "AccountService/FreezeAccount": { request: ({ frozen_id }) => ({ account_id: frozen_id, reason: 3 }) },
  "AccountService/UnfreezeAccount": {
    request: ({ frozen_id, freeze_id }) => ({ account_id: frozen_id, freeze_id }),
  },
  "AccountService/ListFreezes": { request: ({ frozen_id }) => ({ account_id: frozen_id }) },
  // The account has money.
  "AccountService/CloseAccount": { request: ofAccount, code: Status.FAILED_PRECONDITION },
  "AccountService/CreateDestination": {
    request: ({ account_id }) => ({ account_id, kind: 2, number: "5432322" }),
  },
  "AccountService/RemoveDestination": {
    request: ({ account_id, spare_destination_id }) => ({ account_id, destination_id: spare_destination_id }),
  },
  "TransactionService/Mint": { request: ({ account_id }) => movement(account_id, "1.00") },
  "TransactionService/Redeem": { request: ({ account_id }) => movement(account_id, "0.01") },
  "TransactionService/BatchCreateTransactions": { request: movements },
  "TransactionService/ImportTransactions": { request: movements },
  // The transaction is completed.
  "TransactionService/CancelTransaction": { request: ofTransaction, code: Status.FAILED_PRECONDITION },
  // The rail of the transaction is direct. Tests of their own have transactions on other rails.
  "TransactionService/GetPayment": { request: ofTransaction, code: Status.NOT_FOUND },
  "TransactionService/ResolveTransaction": {
    request: ({ transaction_id }) => ({ transaction_id, failed: {} }),
    code: Status.NOT_FOUND,
  },
  "TransactionService/ClearFlag": {
    request: ({ transaction_id }) => ({ transaction_id, flag: 1 }),
    code: Status.NOT_FOUND,
  },
  // No caller can make a deposit. test/e2e/deposits-get.test.ts has some.
  "DepositService/GetDeposit": {
    request: ({ transaction_id }) => ({ deposit_id: transaction_id }),
    code: Status.NOT_FOUND,
  },
  "EventService/ListEvents": { request: ({ account_id }) => ({ account_id, page_size: 200 }) },
  // The book does not have the event, so the stream ends.
  "EventService/WatchEvents": {
    request: ({ account_id }) => ({ account_id, after_sequence: 1_000_000_000 }),
    code: Status.INVALID_ARGUMENT,
  },
  // The book has no seals. test/e2e/books-*.test.ts have sealed books.
  "BookService/GetCheckpoint": { request: () => ({}), code: Status.NOT_FOUND },
  "BookService/GetInclusionProof": { request: ofTransaction, code: Status.NOT_FOUND },
  "BookService/GetConsistencyProof": { request: () => ({ old_size: 1 }), code: Status.NOT_FOUND },
  "WebhookService/CreateWebhookEndpoint": { request: () => ({ url: WEBHOOK_URL }) },
  "WebhookService/UpdateWebhookEndpoint": {
    request: ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, description: "new" }),
  },
  "WebhookService/DeleteWebhookEndpoint": {
    request: ({ spare_endpoint_id }) => ({ webhook_endpoint_id: spare_endpoint_id }),
  },
  "WebhookService/ResendWebhookDelivery": {
    request: ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, sequence: 1 }),
  },
  "WebhookService/ReplayWebhookEvents": {
    request: ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, start_sequence: 1, end_sequence: 2 }),
  },
  "BookService/GetStatement": {
    request: ({ account_id }) => ({ account_id, start: "2026-01-01", end: "2026-01-02" }),
  },
  "BookService/ExportStatement": {
    request: ({ account_id }) => ({ account_id, ...PERIOD }),
    code: Status.INVALID_ARGUMENT,
  },
  "BookService/ExportJournal": { request: () => PERIOD, code: Status.INVALID_ARGUMENT },
  "BookService/ExportGeneralLedger": { request: () => PERIOD, code: Status.INVALID_ARGUMENT },
  "SandboxService/AdvanceTransaction": { request: ofTransaction, code: Status.NOT_FOUND },
  "SandboxService/CreateDeposit": {
    request: () => ({ amount: "1.00", receipt: "SB1" }),
    code: Status.FAILED_PRECONDITION,
  },
  // Every caller gets the same response, whatever the token is.
  "RailService/ReceiveCallback": {
    request: () => ({ token: "x", body: { content_type: "text/plain", data: "aGVsbG8=" } }),
  },
};

/** The row of an rpc. Without one, its request is plain, and the call is OK. */
export function rpcRequest(name: string): RpcRequest {
  return RPC_REQUESTS[name] ?? { request: plainRequest(name) };
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
