import type { JsonObject } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { type Scope, SCOPES } from "../../src/domain/api-key.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import { bytesOf, jsonMethod, restRequest, routeOf } from "../support/callers/contract-requests.js";
import type { GrpcReply } from "../support/callers/grpc-caller.js";
import type { RestReply } from "../support/callers/rest-caller.js";
import { newAccountId, newFreezeId, newTransactionId } from "../support/commands.js";
import { describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";
import { makeKey, withKeys } from "../support/service/tenants.js";

// Each rpc of the contract: a caller without the right key gets nothing, and learns nothing.

/** The things that a request may name. */
interface Things {
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
}

// The loopback is no public address, so no event is sent anywhere.
const WEBHOOK_URL = "https://127.0.0.1/isolated";

/**
 * For each rpc a request that works, with the things of the calling organization. An rpc that is
 * missing here fails: add a request, with every field set that names a thing.
 */
const REQUESTS: Readonly<Record<string, (things: Things) => JsonObject>> = {
  "AccountService/CreateAccount": () => ({ user_id: fresh("isolated"), phone_number: "0712345678" }),
  "AccountService/GetAccount": ({ account_id }) => ({ account_id }),
  "AccountService/ListAccounts": ({ user_id }) => ({ user_id }),
  "AccountService/UpdateAccount": ({ account_id }) => ({ account_id, phone_number: "0733111222" }),
  "AccountService/FreezeAccount": ({ frozen_id }) => ({ account_id: frozen_id, reason_code: 3 }),
  "AccountService/UnfreezeAccount": ({ frozen_id, freeze_id }) => ({ account_id: frozen_id, freeze_id }),
  // The account has money, so the call is refused, but only to callers that may know.
  "AccountService/CloseAccount": ({ account_id }) => ({ account_id }),
  "TransactionService/Mint": ({ account_id }) => ({ account_id, amount: "1.00", reference: fresh("isolated") }),
  "TransactionService/Redeem": ({ account_id }) => ({ account_id, amount: "0.01", reference: fresh("isolated") }),
  "TransactionService/BatchCreateTransactions": ({ account_id }) => ({
    requests: [
      { mint: { account_id, amount: "1.00", reference: fresh("isolated") } },
      { redeem: { account_id, amount: "0.01", reference: fresh("isolated") } },
    ],
  }),
  "TransactionService/GetTransaction": ({ transaction_id }) => ({ transaction_id }),
  "TransactionService/ListTransactions": ({ account_id, reference }) => ({ account_id, reference }),
  "TransactionService/ReverseTransaction": ({ transaction_id }) => ({ transaction_id }),
  // The transaction is completed, so the call is refused, but only to callers that may know.
  "TransactionService/CancelTransaction": ({ transaction_id }) => ({ transaction_id }),
  // The rail is direct, so these are refused. Tests of their own have transactions on a rail.
  "TransactionService/GetPayment": ({ transaction_id }) => ({ transaction_id }),
  "TransactionService/ResolveTransaction": ({ transaction_id }) => ({ transaction_id, failed: {} }),
  "TransactionService/AttendTransaction": ({ transaction_id }) => ({ transaction_id, flag: 1 }),
  "EventService/ListEvents": ({ account_id }) => ({ account_id, page_size: 200 }),
  // The book is not sealed yet, so these are refused. test/e2e/seals-*.test.ts have sealed books.
  "SealService/GetCheckpoint": () => ({}),
  "SealService/GetInclusionProof": ({ transaction_id }) => ({ transaction_id }),
  "SealService/GetConsistencyProof": () => ({ from_size: 1 }),
  "WebhookService/CreateWebhookEndpoint": () => ({ url: WEBHOOK_URL }),
  "WebhookService/GetWebhookEndpoint": ({ webhook_endpoint_id }) => ({ webhook_endpoint_id }),
  "WebhookService/ListWebhookEndpoints": () => ({}),
  "WebhookService/UpdateWebhookEndpoint": ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, description: "new" }),
  "WebhookService/DeleteWebhookEndpoint": ({ spare_endpoint_id }) => ({ webhook_endpoint_id: spare_endpoint_id }),
  "WebhookService/RotateWebhookSecret": ({ webhook_endpoint_id }) => ({ webhook_endpoint_id }),
  "WebhookService/SendTestEvent": ({ webhook_endpoint_id }) => ({ webhook_endpoint_id }),
  "WebhookService/ListWebhookDeliveries": ({ webhook_endpoint_id }) => ({ webhook_endpoint_id }),
  "WebhookService/ResendWebhookDelivery": ({ webhook_endpoint_id }) => ({ webhook_endpoint_id, sequence: 1 }),
  "WebhookService/ReplayWebhookEvents": ({ webhook_endpoint_id }) => ({
    webhook_endpoint_id,
    from_sequence: 1,
    until_sequence: 1,
  }),
  "StatementService/GetStatement": ({ account_id }) => ({ account_id, start: "2026-01-01", end: "2026-01-02" }),
  // It names nothing of an organization. A test of its own shows that others count for nothing.
  "SupplyService/GetSupply": () => ({}),
  "LimitService/GetLimits": ({ account_id }) => ({ account_id }),
  "SandboxService/AdvanceTransaction": ({ transaction_id }) => ({ transaction_id }),
};

/** The rpcs that find nothing on the direct rail. */
const FOR_RAILS = ["TransactionService/GetPayment", "TransactionService/ResolveTransaction"];
/** The rpcs that find nothing in a book without seals. */
const FOR_SEALS = ["SealService/GetCheckpoint", "SealService/GetInclusionProof", "SealService/GetConsistencyProof"];

/** The rpc that finds something at the first call only. */
const ONCE = "WebhookService/DeleteWebhookEndpoint";

// The stream has its own test: test/e2e/transactions-import.test.ts. So has the rpc that needs no
// key: test/e2e/rails-receivecallback.test.ts.
const rpcs = readContract()
  .services.flatMap((service) => service.rpcs)
  .flatMap(({ requiredScope, streams, ...rpc }) =>
    streams !== "none" || requiredScope === undefined ? [] : [{ ...rpc, requiredScope }],
  );

function requestOf(name: string, things: Things): JsonObject {
  const request = REQUESTS[name];
  if (request === undefined) throw new Error(`add to REQUESTS in test/e2e/isolation.test.ts how to call ${name}`);
  return request(things);
}

/**
 * Whether the rpc's request names a thing of an organization. An rpc that names none makes or lists
 * the caller's own.
 */
function namesThings(name: string): boolean {
  let named = false;
  const watched = new Proxy({} as Things, {
    get: () => {
      named = true;
      return "";
    },
  });
  requestOf(name, watched);
  return named;
}

/** The response without the ids that the caller has sent itself, and without the request's id. */
function withoutIds(answer: object): string {
  return JSON.stringify(answer)
    .replace(/(acc|txn|frz|whe)_[0-9a-z]{26}/g, "$1")
    .replace(/request_id\\?":\\?"[^"]*"/, "");
}

describeEachEngine("each rpc of the contract", (service) => {
  let theirs: Things;
  let untouched = "";
  const refusedKeys: { what: string; key: string; code: string; status: number; reason: string }[] = [];
  const keyWithout = new Map<Scope, string>();

  before(async () => {
    theirs = await makeThings(service().a.key);
    await makeThings(service().b.key);
    await withKeys(service().databaseUrl, async (keys) => {
      const { organizationId } = service().a;
      const revoked = await makeKey(keys, organizationId);
      await keys.revokeApiKey(revoked.id);
      const expired = await makeKey(keys, organizationId, { expiresAt: toUnixMillis(Date.now() - 1) });
      const invalid = { code: "UNAUTHENTICATED", status: 401, reason: "INVALID_API_KEY" };
      refusedKeys.push(
        { ...invalid, what: "no key", key: "", reason: "MISSING_API_KEY" },
        { ...invalid, what: "a malformed key", key: "kesc_not a key" },
        { ...invalid, what: "an id instead of a secret", key: revoked.id },
        { ...invalid, what: "a key that nobody has", key: `kesc_${"a".repeat(43)}` },
        { ...invalid, what: "a revoked key", key: revoked.secret },
        { ...invalid, what: "an expired key", key: expired.secret },
      );
      for (const scope of SCOPES) {
        const scopes = SCOPES.filter((other) => other !== scope);
        keyWithout.set(scope, (await makeKey(keys, organizationId, { scopes })).secret);
      }
    });
  });

  function byGrpc(path: string, request: JsonObject, key: string): Promise<GrpcReply<JsonObject | undefined>> {
    const { rpc } = routeOf(path);
    return service().grpc.call(jsonMethod(rpc), bytesOf(rpc.input, request), { key });
  }

  function byRest(path: string, request: JsonObject, key: string): Promise<RestReply> {
    const { method, path: target, body } = restRequest(routeOf(path), request);
    return service().rest(method, target, { key, body });
  }

  async function makeThings(key: string): Promise<Things> {
    const [user_id, reference] = [fresh("isolated"), fresh("isolated")];
    const create = { user_id, phone_number: "0712345678" };
    const account = (await byRest("/kesc.v1.AccountService/CreateAccount", create, key)).json;
    const account_id = String(account["id"]);
    const mint = { account_id, amount: "100.00", reference };
    const transaction = (await byRest("/kesc.v1.TransactionService/Mint", mint, key)).json;
    const other = { user_id: fresh("frozen"), phone_number: "0712345678" };
    const frozen_id = String((await byRest("/kesc.v1.AccountService/CreateAccount", other, key)).json["id"]);
    const freeze = { account_id: frozen_id, reason_code: 1 };
    const frozen = (await byRest("/kesc.v1.AccountService/FreezeAccount", freeze, key)).json;
    const { id: freeze_id } = frozen["freeze"] as { readonly id: string };
    const webhook = async (url: string): Promise<string> =>
      String((await byRest("/kesc.v1.WebhookService/CreateWebhookEndpoint", { url }, key)).json["id"]);
    return {
      account_id,
      frozen_id,
      freeze_id,
      transaction_id: String(transaction["id"]),
      user_id,
      reference,
      webhook_endpoint_id: await webhook(WEBHOOK_URL),
      spare_endpoint_id: await webhook(`${WEBHOOK_URL}/spare`),
    };
  }

  async function stateOfTheirs(): Promise<string> {
    const { account_id, frozen_id } = theirs;
    const account = await byRest("/kesc.v1.AccountService/GetAccount", { account_id }, service().a.key);
    const frozen = await byRest("/kesc.v1.AccountService/GetAccount", { account_id: frozen_id }, service().a.key);
    const transactions = await byRest("/kesc.v1.TransactionService/ListTransactions", { account_id }, service().a.key);
    return account.text + frozen.text + transactions.text;
  }

  const missing = (): Things => ({
    account_id: newAccountId(),
    frozen_id: newAccountId(),
    freeze_id: newFreezeId(),
    transaction_id: newTransactionId(),
    user_id: fresh("nobody"),
    reference: fresh("nothing"),
    webhook_endpoint_id: "whe_01jd2r6p5vf8ksw3xhb1z7q400",
    spare_endpoint_id: "whe_01jd2r6p5vf8ksw3xhb1z7q400",
  });

  for (const { path, name, requiredScope } of rpcs) {
    describe(name, () => {
      it("works with the organization's own key", async () => {
        const findsNothing = [...FOR_RAILS, ...FOR_SEALS].includes(name);
        const allowed = findsNothing ? ["NOT_FOUND"] : ["OK", "FAILED_PRECONDITION"];
        const request = requestOf(name, theirs);
        expect(allowed).to.include(Status[(await byGrpc(path, request, service().a.key)).code]);
        const statuses = findsNothing || name === ONCE ? [404] : [200, 201, 422];
        expect((await byRest(path, requestOf(name, theirs), service().a.key)).status).to.be.oneOf(statuses);
        untouched = await stateOfTheirs();
      });

      it("is refused without a live key", async () => {
        for (const { what, key, code, status, reason } of refusedKeys) {
          const answer = await byGrpc(path, requestOf(name, theirs), key);
          expect({ code: Status[answer.code], reason: answer.reason, facts: answer.facts }, what).to.deep.equal({
            code,
            reason,
            facts: {},
          });
          const reply = await byRest(path, requestOf(name, theirs), key);
          expect({ status: reply.status, code: reply.json["code"] }, what).to.deep.equal({ status, code: reason });
          expect(reply.headers["www-authenticate"], what).to.match(/^Bearer/);
        }
      });

      it(`is refused to a key that has every scope but ${requiredScope}`, async () => {
        const key = keyWithout.get(requiredScope) ?? "";
        const answer = await byGrpc(path, requestOf(name, theirs), key);
        expect({ code: Status[answer.code], reason: answer.reason, facts: answer.facts }).to.deep.equal({
          code: "PERMISSION_DENIED",
          reason: "SCOPE_REQUIRED",
          facts: { scope: requiredScope },
        });
        const reply = await byRest(path, requestOf(name, theirs), key);
        expect({ status: reply.status, code: reply.json["code"] }).to.deep.equal({
          status: 403,
          code: "SCOPE_REQUIRED",
        });
      });

      it("responds to another organization as if the first had nothing", async () => {
        if (!namesThings(name)) return;
        const { key } = service().b;
        const [foreign, none] = [requestOf(name, theirs), requestOf(name, missing())];
        const [ofTheirs, ofNone] = [await byGrpc(path, foreign, key), await byGrpc(path, none, key)];
        // Of the headers only the request id differs from call to call.
        const [theirWords, noWords] = [ofTheirs, ofNone].map((reply) => withoutIds({ ...reply, headers: undefined }));
        expect(theirWords).to.equal(noWords);
        const rows = Object.values(ofTheirs.response ?? {}).find(Array.isArray);
        if (rows === undefined) expect(Status[ofTheirs.code]).to.equal("NOT_FOUND");
        // A list is empty, and a batch has done nothing.
        else expect((rows as JsonObject[]).filter(({ error }) => error === undefined)).to.deep.equal([]);
        const [restOfTheirs, restOfNone] = [await byRest(path, foreign, key), await byRest(path, none, key)];
        expect(restOfTheirs.status).to.equal(restOfNone.status);
        expect(withoutIds(restOfTheirs.json)).to.equal(withoutIds(restOfNone.json));
      });

      it("has changed nothing of the first organization by all this", async () => {
        expect(await stateOfTheirs()).to.equal(untouched);
      });
    });
  }

  it("has no request for an rpc that the contract does not have", () => {
    expect(Object.keys(REQUESTS)).to.have.members(rpcs.map(({ name }) => name));
  });
});

describeEachEngine("one organization and another", (service) => {
  let account_id = "";
  let user_id = "";
  let reference = "";

  before(async () => {
    account_id = await newAccount(service());
    user_id = String((await service().rest("GET", `/accounts/${account_id}`)).json["user_id"]);
    reference = fresh("theirs");
    await service().rest("POST", "/transactions/mint", { body: { account_id, amount: 1, reference } });
  });

  it("sees nothing of the other in a list without filters", async () => {
    const { key } = service().b;
    const accounts = await service().rest("GET", "/accounts", { key });
    expect(accounts.status).to.equal(200);
    expect(accounts.text).not.to.include(account_id);
    const transactions = await service().rest("GET", "/transactions", { key });
    expect(transactions.status).to.equal(200);
    expect(transactions.text).not.to.include(account_id);
  });

  it("may use the same user_id, reference and idempotency key without a clash", async () => {
    const { a, b } = service();
    const body = { user_id, phone_number: "0712345678" };
    const account = await service().rest("POST", "/accounts", { key: b.key, body });
    expect(account.status).to.equal(201);
    const headers = { "idempotency-key": fresh("shared") };
    const mint = async (key: string, movement: object): Promise<number> =>
      (await service().rest("POST", "/transactions/mint", { key, headers, body: { ...movement, amount: 1 } })).status;
    expect(await mint(a.key, { account_id, reference: fresh("own") })).to.equal(201);
    expect(await mint(b.key, { account_id: account.json["id"], reference })).to.equal(201);
  });
});
