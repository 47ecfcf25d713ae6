import type { JsonObject } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { HTTP_STATUS } from "../../gateway/problems/reasons.js";
import { type Scope, SCOPES } from "../../src/domain/api-key.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import { revokeApiKey } from "../support/as-machine.js";
import { bytesOf, jsonMethod, restRequest, routeOf } from "../support/callers/contract-requests.js";
import type { GrpcReply } from "../support/callers/grpc-caller.js";
import type { RestReply } from "../support/callers/rest-caller.js";
import { makeThings, missingThings, namesThings, rpcRequest } from "../support/callers/rpc-requests.js";
import type { Things } from "../support/operations/things.js";
import { describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";
import { makeKey, withKeys } from "../support/service/tenants.js";

// Each rpc of the contract: a caller without the right key gets nothing, and learns nothing.

// The streams have their own tests, such as test/e2e/transactions-import.test.ts. So has the rpc
// that needs no key: test/e2e/rails-receivecallback.test.ts.
const rpcs = readContract()
  .services.flatMap((service) => service.rpcs)
  .flatMap(({ requiredScope, streams, ...rpc }) =>
    streams !== "none" || requiredScope === undefined ? [] : [{ ...rpc, requiredScope }],
  );

const requestOf = (name: string, things: Things): JsonObject => rpcRequest(name).request(things);

/** The response without the ids that the caller has sent itself, and without the request's id. */
function withoutIds(answer: object): string {
  return JSON.stringify(answer)
    .replace(/(acc|txn|frz|whe|dst)_[0-9a-z]{26}/g, "$1")
    .replace(/request_id\\?":\\?"[^"]*"/, "");
}

describeEachEngine("each rpc of the contract", (service) => {
  let theirs: Things;
  let untouched = "";
  const refusedKeys: { what: string; key: string; code: string; status: number; reason: string }[] = [];
  const keyWithout = new Map<Scope, string>();

  before(async () => {
    const rest = service().rest.bind(service());
    theirs = await makeThings(rest, service().a.key);
    await makeThings(rest, service().b.key);
    await withKeys(service().databaseUrl, async (keys, database) => {
      const { organizationId } = service().a;
      const revoked = await makeKey(keys, organizationId);
      await revokeApiKey(database, revoked.id);
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

  async function stateOfTheirs(): Promise<string> {
    const { account_id, frozen_id } = theirs;
    const account = await byRest("/kesc.v1.AccountService/GetAccount", { account_id }, service().a.key);
    const frozen = await byRest("/kesc.v1.AccountService/GetAccount", { account_id: frozen_id }, service().a.key);
    const transactions = await byRest("/kesc.v1.TransactionService/ListTransactions", { account_id }, service().a.key);
    return account.text + frozen.text + transactions.text;
  }

  for (const { path, name, requiredScope } of rpcs) {
    describe(name, () => {
      it("works with the organization's own key", async () => {
        const { code = Status.OK, repeatCode = code } = rpcRequest(name);
        const { key } = service().a;
        expect(Status[(await byGrpc(path, requestOf(name, theirs), key)).code]).to.equal(Status[code]);
        const { status } = await byRest(path, requestOf(name, theirs), key);
        expect(status).to.be.oneOf(repeatCode === Status.OK ? [200, 201] : [HTTP_STATUS[repeatCode]]);
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
        if (!namesThings(rpcRequest(name))) return;
        const { key } = service().b;
        const [foreign, none] = [requestOf(name, theirs), requestOf(name, missingThings())];
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
