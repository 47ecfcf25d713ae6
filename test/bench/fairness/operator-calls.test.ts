import { Metadata } from "@grpc/grpc-js";
import { expect } from "chai";

import {
  CHEAPEST,
  headersOf,
  operatorAttacks,
  piecesOf,
  requestBytes,
  WORST,
} from "../../../bench/fairness/operator-calls.js";
import { hostileOperator } from "../../../bench/fairness/operator-given.js";
import { rowsNamed } from "../../../bench/fairness/rows.js";
import { ROLES } from "../../../src/domain/operator.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../../src/gen/kesc/admin/v1/admin_service.js";
import { SessionServiceService as Sessions } from "../../../src/gen/kesc/admin/v1/session_service.js";
import { WebhookServiceService as Webhooks } from "../../../src/gen/kesc/v1/webhook_service.js";
import { ListTurns } from "../../../src/grpc/calls/list-turns.js";
import { OperatorAuthenticator } from "../../../src/grpc/calls/operator-authenticator.js";
import { isChange, PersonTurns } from "../../../src/grpc/calls/person-turns.js";
import type { RpcContract } from "../../../src/grpc/messages/contract.js";
import { readOperatorsAddress } from "../../../src/grpc/messages/contract.js";
import { type GivenOperator, newKey, type OperatorService, startOperatorService } from "../../operators/given.js";
import type { GrpcCaller, GrpcReply, GrpcStatus, Method } from "../../support/callers/grpc-caller.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint } from "../../support/operations/transactions.js";

// Made once: a workbook of 50,000 rows is among them.
const attacks = operatorAttacks();
const served = readOperatorsAddress().services.flatMap(({ rpcs }) => rpcs);
const shortOf = ({ path }: RpcContract): string => path.slice(path.lastIndexOf("/") + 1);
/** Each rpc whose work grows with what it lists, compares or counts. */
const READS_MANY = /^(List|Export|LookUp$|GetOverview$|GetStatement$|GetSupply$|ReconcileStatement$)/;

/** Tells of each call of a method. Returns what ends it. */
function watched(prototype: object, method: string, tell: (given: readonly unknown[]) => void): () => void {
  const original = Reflect.get(prototype, method) as (...given: unknown[]) => unknown;
  Reflect.set(prototype, method, function (this: unknown, ...given: unknown[]) {
    tell(given);
    return original.apply(this, given);
  });
  return () => {
    Reflect.set(prototype, method, original);
  };
}

describe("the calls of hostile operators in the benchmark", () => {
  it("are those of each rpc of the operators' address, beside the cheapest one", () => {
    const covered = new Set(Object.values(attacks).map(({ rpc }) => rpc.path));
    expect([...covered]).to.have.members(served.map(({ path }) => path));
    const rows = rowsNamed("operators");
    expect(rows.map(({ attack }) => attack)).to.have.members(Object.keys(attacks));
    for (const { attack, yardstick } of rows) {
      expect(yardstick, attack).to.equal(`${CHEAPEST}*${String(attacks[attack as typeof CHEAPEST]?.callers)}`);
    }
  });

  it("name no rpc that is gone", () => {
    expect(served.map(({ name }) => name)).to.include.members(Object.keys(WORST));
  });
});

/** The thread that reads a statement gives way to whatever else the machine does. */
const UPLOAD_MILLIS_MAX = 120_000;

describe("the turns of operators", () => {
  let service: OperatorService;
  let admin: GrpcCaller;
  let person: GivenOperator;
  let things: Record<string, string>;
  /** The turns of lists, and of changes and trials, of each call. */
  let taken: string[] = [];
  const restore: (() => void)[] = [];

  before(async () => {
    restore.push(watched(ListTurns.prototype, "page", () => taken.push("list")));
    restore.push(watched(PersonTurns.prototype, "run", ([turn]) => taken.push(String(turn))));
    service = await startOperatorService("sqlite");
    [admin] = service.admin;
    person = await service.operator("Everybody", ...ROLES);
    const { organizationId } = service.tenant;
    const account = createAccount(organizationId, "amina");
    const minted = mint({ organizationId, accountId: account.newAccountId, amount: "1.00", reference: "one" });
    await service.opened.cell.committer.commit([account, minted], toUnixMillis(Date.now()));
    const ids = { account_id: account.newAccountId, transaction_id: minted.newTransactionId };
    const endpoint = { url: "https://localhost/" };
    const made = await service.publicly.call(Webhooks.createWebhookEndpoint, endpoint, { key: service.tenant.key });
    const webhook_endpoint_id = made.response?.webhook_endpoint?.id ?? "";
    things = { ...ids, webhook_endpoint_id, organization_id: organizationId, operator_id: person.operator.id };
  });
  after(async () => {
    for (const each of restore) each();
    await service.dispose();
  });

  const call = (rpc: RpcContract, request: Buffer, { key } = person): Promise<GrpcReply<unknown>> => {
    const method: Method<object, unknown> = {
      path: rpc.path,
      requestSerialize: () => request,
      responseDeserialize: (bytes) => bytes,
    };
    return admin.call(method, {}, { key, metadata: headersOf({ rpc }, things, 1) });
  };

  const send = (rpc: RpcContract, requests: readonly Buffer[], { key }: GivenOperator): Promise<GrpcStatus> => {
    const stream = admin.open<Buffer, Buffer>(
      { path: rpc.path, requestSerialize: (bytes) => bytes, responseDeserialize: (bytes) => bytes },
      { key, metadata: headersOf({ rpc }, things, 1), deadlineMillis: UPLOAD_MILLIS_MAX },
    );
    for (const request of requests) stream.send(request);
    stream.end();
    return stream.ended;
  };

  it("bound each rpc that lists, compares or counts", async () => {
    const without: string[] = [];
    const asked = new Set<RpcContract>();
    for (const [name, calls] of Object.entries(attacks)) {
      const { rpc } = calls;
      if (asked.has(rpc)) continue;
      asked.add(rpc);
      if (!READS_MANY.test(shortOf(rpc)) || rpc.streams !== "none" || calls.key !== undefined) continue;
      taken = [];
      const { message } = await call(rpc, requestBytes(calls, things, 1));
      if (!taken.includes("list")) without.push(`${name}: ${message}`);
    }
    expect(without).to.deep.equal([]);
  });

  it("bound each change of people, 8 of a person at a time", async () => {
    const own = served.filter((rpc) => isChange(rpc) && !rpc.isPublic && rpc.path.startsWith("/kesc.admin."));
    expect(own.map(shortOf)).to.include("CreateSignInCode");
    const calls = Array.from({ length: 12 }, () => admin.call(Sessions.createSignInCode, {}, { key: person.key }));
    const reasons = (await Promise.all(calls)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === undefined)).to.have.length(8);
    expect(reasons.filter((reason) => reason === "QUEUE_FULL")).to.have.length(4);
    for (const rpc of own) {
      // Some of the changes end the power of the person whom they name.
      const by = await service.operator(`Before ${shortOf(rpc)}`, ...ROLES);
      taken = [];
      const calls = attacks[`operators/${rpc.name}`];
      if (calls === undefined) throw new Error(rpc.path);
      const { reason } = await call(rpc, requestBytes(calls, things, 1), by);
      if (reason !== "INVALID_FIELD") expect(taken, rpc.path).to.include("change");
    }
  });

  it("are of requests that the server can read, but for those that are malformed on purpose", async function () {
    // Each of the large files is followed by a rest as long as it took.
    this.timeout(400_000);
    const { tenant, servers } = service;
    const hostile = { accountIds: [things["account_id"] ?? ""], apiKey: tenant.key, program: servers[0] };
    const { operatorAddress = "" } = servers[0];
    const proposer = await service.operator("Proposer", ...ROLES);
    const given = await hostileOperator(operatorAddress, proposer, { hostile, organizationId: tenant.organizationId });
    const wrong: string[] = [];
    for (const [name, calls] of Object.entries(attacks)) {
      // Some of the changes end the power of the person whom they name.
      const by = await service.operator(`Row ${name}`.slice(0, 60), ...ROLES);
      const own = { ...given.things, operator_id: by.operator.id };
      const pieces = piecesOf(calls);
      const request = requestBytes(calls, own, 1);
      const { reason, message } =
        pieces.length === 0 ? await call(calls.rpc, request, by) : await send(calls.rpc, [request, ...pieces], by);
      if ((reason === "INVALID_FIELD") !== (calls.isMalformed ?? false)) wrong.push(`${name}: ${message}`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it("bound a comparison of a proposal", async () => {
    taken = [];
    const proposal_id = "prp_01jd2r6p5vf8ksw3xhb1z7q4ye";
    const { key } = await service.operator("Third", "viewer");
    await admin.call(Rpcs.getProposal, { proposal_id, compare: true }, { key });
    expect(taken).to.include("trial");
  });

  it("refuse a person of whom eight acts of many parts wait, before somebody reads the request", async () => {
    const asked = Promise.withResolvers<undefined>();
    const own = new PersonTurns(() => toUnixMillis(0));
    const refusalOf = PersonTurns.prototype.refusalOf.bind(own);
    const original: unknown = Reflect.get(PersonTurns.prototype, "refusalOf");
    const busy = await service.operator("Busy", ...ROLES);
    const caller = { who: { kind: "operator", operator: busy.operator }, organization: undefined } as const;
    const work = () => asked.promise.then(() => ({ kind: "done", response: {}, replayed: false }) as const);
    const waiting = Array.from({ length: 8 }, () => own.run("trial", caller, work));
    Reflect.set(PersonTurns.prototype, "refusalOf", refusalOf);
    try {
      for (const name of ["RecordDeposits:preview", "ResolveTransactions:preview", "CreateSignInCode"]) {
        const calls = Object.entries(attacks).find(([attack]) => attack.endsWith(`/${name}`))?.[1];
        if (calls === undefined) throw new Error(name);
        expect((await call(calls.rpc, Buffer.from([0xff]), busy)).reason, name).to.equal("QUEUE_FULL");
        const other = await service.operator(`Beside ${name}`, ...ROLES);
        expect((await call(calls.rpc, Buffer.from([0xff]), other)).reason, name).to.equal("INVALID_FIELD");
      }
    } finally {
      Reflect.set(PersonTurns.prototype, "refusalOf", original);
      asked.resolve(undefined);
      await Promise.all(waiting);
    }
  });

  it("rest the longer after a trial, the more parts it has", async () => {
    const reads: Promise<{ readonly lookedAt: number }>[] = [];
    const end = watched(ListTurns.prototype, "page", ([, read]) => {
      reads.push((read as () => Promise<{ readonly lookedAt: number }>)());
    });
    const turns = new PersonTurns(() => toUnixMillis(0));
    const caller = { who: { kind: "operator", operator: person.operator }, organization: undefined } as const;
    const work = () => Promise.resolve({ kind: "done", response: {}, replayed: false } as const);
    for (const parts of [1, 1_000]) await turns.run("trial", caller, work, parts);
    end();
    expect((await Promise.all(reads)).map(({ lookedAt }) => lookedAt)).to.deep.equal([1_000, 100_000]);
  });

  it("let an unknown key wait before it is refused, and no other", async () => {
    const waits: number[] = [];
    const keys = {
      operatorWithKey: (sha256: string) => Promise.resolve(sha256 === known.sha256 ? person.operator : undefined),
    };
    const known = newKey();
    const wait = (millis: number): Promise<void> => Promise.resolve(void waits.push(millis));
    const signIn = { operatorWithSession: () => Promise.resolve(undefined) };
    const restoreWaits = () => Promise.resolve(false);
    const authenticator = new OperatorAuthenticator({ administration: keys, signIn, restoreWaits }, wait);
    const authenticate = (key: string) => {
      const metadata = new Metadata();
      metadata.set("x-api-key", key);
      return authenticator.authenticate({ metadata, getPeer: () => "peer" }, false);
    };
    expect(await authenticate(known.key)).to.equal(person.operator);
    expect(waits).to.deep.equal([]);
    for (const key of [newKey().key, `kesc_ses_${known.key.slice(8)}`]) {
      expect(await authenticate(key), key).to.deep.equal({ reason: "INVALID_OPERATOR_KEY" });
    }
    expect(waits).to.deep.equal([100, 100]);
  });
});
