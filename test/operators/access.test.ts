import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { FOUR_EYES_GROUPS } from "../../src/domain/authority.js";
import { type Role, ROLES } from "../../src/domain/operator.js";
import type { ProposalId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { isRead, readContract, readOperatorsAddress, readOperatorsContract } from "../../src/grpc/messages/contract.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import { GrpcCaller, type Method } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { MAY_CALL } from "../support/documents/roles.js";
import { actOn, decideOn } from "../support/people.js";
import { secretsIn } from "../support/service/secrets.js";
import {
  ALL_PROPOSALS,
  type GivenOperator,
  makeOperator,
  newKey,
  type OperatorService,
  startOperatorService,
} from "./given.js";

const named = (text: string): readonly string[] => text.trim().split(/\s+/);

/** What every role may do: to read what the table does not restrict, and to verify its session. */
const isOfAll = (rpc: string): boolean => /^(Get|List|LookUp$|WhoAmI$|VerifySession$)/.test(rpc) && !MAY_CALL.has(rpc);

/** The rpcs that nobody needs a key for. */
const PUBLIC = ["BeginPasskey", "GetSignInToken", "CreateSession", "RegisterPasskey"];

/**
 * The acts that need no fresh session: they stop something, take power away, send events once more,
 * or say how a file is read. All others move money, give power, or reveal personal data.
 */
const NOT_FRESH = named(`
CreateOrganization SuspendOrganization RevokeApiKey FreezeAccount CancelTransaction ClearFlag RejectProposal
RevokeOperator EndSession ListSessions RemovePasskey CreateSignInCode ReconcileStatement CloseMonth ExportMonth ProbeRailAccount
UpdateWebhookEndpoint SendTestEvent ResendWebhookDelivery ReplayWebhookEvents SetReservePlace RefuseTransaction StopFile
TestPayoutCheck`);

/** The rpcs of operators, and those of organizations with which they act. Any role may read. */
const SERVED = readOperatorsAddress().services.flatMap(({ rpcs }) =>
  rpcs.filter((rpc) => !(rpc.path.startsWith("/kesc.v1.") && isRead(rpc))),
);
const ALL_METHODS = SERVED.map(({ path }): Method<object, unknown> => ({
  path,
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: (bytes) => bytes,
}));
const nameOf = ({ path }: Pick<Method<object, unknown>, "path">): string => path.split("/").at(-1) ?? "";
const METHODS = ALL_METHODS.filter((method) => !PUBLIC.includes(nameOf(method)));

for (const engine of ENGINES_OF_STAGE) {
  describe(`who may call the AdminService (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    const people = new Map<Role, GivenOperator>();

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      for (const role of ROLES) people.set(role, await service.operator(`The ${role}`, role));
    });
    after(() => service.dispose());

    const keyOf = (role: Role): string => people.get(role)?.key ?? "";
    /** Calls each rpc, and returns the different reasons. */
    const reasonsOf = async (
      caller: GrpcCaller,
      options: { key?: string; metadata?: Record<string, string> },
      methods = METHODS,
    ) => {
      const replies = await Promise.all(methods.map((method) => caller.call(method, {}, options)));
      return [...new Set(replies.map(({ code, reason }) => `${String(code)} ${reason ?? ""}`))];
    };

    for (const role of ROLES) {
      it(`${role}: exactly the rpcs of the role`, async () => {
        const replies = await Promise.all(
          METHODS.map(async (method) => {
            const { reason } = await admin.call(method, {}, { key: keyOf(role) });
            return [nameOf(method), reason] as const;
          }),
        );
        const allowed = replies.filter(([, reason]) => reason !== "ROLE_REQUIRED").map(([name]) => name);
        const expected = METHODS.map(nameOf).filter((rpc) => isOfAll(rpc) || MAY_CALL.get(rpc)?.has(role) === true);
        expect(allowed).to.have.members(expected);
      });
    }

    it("names every act of the contract in docs/admin.md", () => {
      const acts = METHODS.map(nameOf).filter((rpc) => !isOfAll(rpc));
      expect(acts).to.have.members([...MAY_CALL.keys()]);
      const namesIf = (key: "needsFresh" | "isPublic"): string[] =>
        SERVED.filter((rpc) => rpc[key]).map(({ name }) => name.split("/").at(-1) ?? "");
      expect(namesIf("isPublic")).to.have.members(PUBLIC);
      expect(namesIf("needsFresh")).to.have.members(acts.filter((rpc) => !NOT_FRESH.includes(rpc)));
    });

    it("names the fields that it refuses as the contract does", async () => {
      for (const method of METHODS) {
        const metadata = { "kesc-organization": service.tenant.organizationId };
        const { fields = [] } = await admin.call(method, {}, { key: keyOf("admin"), metadata });
        const { input, operatorsGive } = SERVED.find(({ path }) => path === method.path) ?? {};
        const names = ["idempotency-key", ...(input?.fields ?? []).map(({ name }) => name)];
        const missing = operatorsGive?.filter((name) => fields.every(({ field }) => field !== name));
        expect(missing, `words that ${nameOf(method)} asks for`).to.deep.equal([]);
        expect(
          fields.every(({ field }) => names.includes(field)),
          `${nameOf(method)}: ${JSON.stringify(fields)}`,
        ).to.equal(true);
      }
    });

    it("nobody without a key", async () => {
      expect(await reasonsOf(admin, { key: "" })).to.deep.equal(["16 MISSING_OPERATOR_KEY"]);
    });

    it("no organization: its key is unknown here", async () => {
      expect(await reasonsOf(admin, { key: service.tenant.key })).to.deep.equal(["16 INVALID_OPERATOR_KEY"]);
    });

    it("no key that was never given out, has another form, or comes with a second one", async () => {
      const good = keyOf("admin");
      const wrong = [newKey().key, `${good}x`, good.slice(0, -1), good.toUpperCase(), "kesc_op_", "x"];
      for (const key of wrong) {
        expect(await reasonsOf(admin, { key }), key).to.deep.equal(["16 INVALID_OPERATOR_KEY"]);
      }
      const second = { authorization: `Bearer ${newKey().key}` };
      expect(await reasonsOf(admin, { key: good, metadata: second })).to.deep.equal(["16 INVALID_OPERATOR_KEY"]);
      const basic = { authorization: "Basic YTpi" };
      expect(await reasonsOf(admin, { key: "", metadata: basic })).to.deep.equal(["16 INVALID_OPERATOR_KEY"]);
    });

    it("no certificate and no other header in place of a key", async () => {
      const metadata = { "kesc-peer-certificate": "URI:spiffe://example.com/admin", "x-operator": "The admin" };
      expect(await reasonsOf(admin, { key: "", metadata })).to.deep.equal(["16 MISSING_OPERATOR_KEY"]);
    });

    it("takes a key as authorization: Bearer, too", async () => {
      const metadata = { authorization: `Bearer ${keyOf("viewer")}` };
      const { response } = await admin.call(Rpcs.whoAmI, {}, { key: "", metadata });
      expect(response?.operator?.name).to.equal("The viewer");
    });

    it("no revoked operator, and no key that was replaced, from the next call on, at each server", async () => {
      const leaver = await service.operator("Leaver", "admin");
      const mover = await service.operator("Mover", "admin");
      const { sha256: keySha256 } = newKey();
      for (const caller of service.admin) {
        expect((await caller.call(Rpcs.whoAmI, {}, { key: leaver.key })).code).to.equal(Status.OK);
        expect((await caller.call(Rpcs.whoAmI, {}, { key: mover.key })).code).to.equal(Status.OK);
      }
      await actOn(service.stored, { name: "revokeOperator", operatorId: leaver.operator.id });
      const act = { name: "replaceOperatorKey", operatorId: mover.operator.id, keySha256 } as const;
      await actOn(service.stored, act);
      for (const caller of service.admin) {
        expect(await reasonsOf(caller, { key: leaver.key })).to.deep.equal(["16 INVALID_OPERATOR_KEY"]);
        expect(await reasonsOf(caller, { key: mover.key })).to.deep.equal(["16 INVALID_OPERATOR_KEY"]);
      }
    });

    it("loses a role from the next call on", async () => {
      const { operator, key } = await service.operator("Demoted", "admin");
      const name = { name: "x", cell: 1_000 };
      expect((await admin.call(Rpcs.createOrganization, name, { key })).reason).to.equal("INVALID_FIELD");
      const act = { name: "setOperatorRoles", operatorId: operator.id, roles: ["viewer"] } as const;
      await actOn(service.stored, act);
      expect((await admin.call(Rpcs.createOrganization, name, { key })).reason).to.equal("ROLE_REQUIRED");
    });

    it("is not on the public address, whatever the key", async () => {
      for (const key of [keyOf("admin"), service.tenant.key]) {
        const own = METHODS.filter(({ path }) => !path.startsWith("/kesc.v1."));
        expect(await reasonsOf(service.publicly, { key }, own)).to.deep.equal(["12 NO_SUCH_RPC"]);
      }
    });

    it("lets no operator call what writes for organizations", async () => {
      const { code, reason } = await service.publicly.call("ListAccounts", {}, { key: keyOf("admin") });
      expect([code, reason]).to.deep.equal([Status.UNAUTHENTICATED, "INVALID_API_KEY"]);
      const there = await admin.call("CreateAccount", {}, { key: keyOf("admin") });
      expect([there.code, there.reason]).to.deep.equal([Status.UNIMPLEMENTED, "NO_SUCH_RPC"]);
    });

    it("answers a thousand wrong keys from one connection, and an operator meanwhile", async () => {
      const wrong = Array.from({ length: 1_000 }, () =>
        admin.call(Rpcs.whoAmI, {}, { key: newKey().key, deadlineMillis: 50_000 }),
      );
      const operator = new GrpcCaller(service.servers[0].operatorAddress ?? "");
      const { code } = await operator.call(Rpcs.whoAmI, {}, { key: keyOf("viewer"), deadlineMillis: 10_000 });
      operator.close();
      expect(code).to.equal(Status.OK);
      const reasons = new Set((await Promise.all(wrong)).map(({ reason }) => reason));
      reasons.delete("QUEUE_FULL");
      expect([...reasons]).to.deep.equal(["INVALID_OPERATOR_KEY"]);
    });

    it("writes no key into the log, and names the operator of each call", () => {
      const text = service.lines.join("");
      expect(secretsIn(text)).to.deep.equal([]);
      expect(text).to.include(`"operator_id":"${people.get("viewer")?.operator.id ?? ""}"`);
    });
  });
}

describe("the contract of operators", () => {
  it("is apart from that of organizations", () => {
    const names = ({ services }: ReturnType<typeof readContract>): string[] => services.map(({ name }) => name);
    expect(names(readContract()).filter((name) => name.includes("admin"))).to.deep.equal([]);
    expect(names(readOperatorsContract())).to.deep.equal([
      "kesc.admin.v1.AdminService",
      "kesc.admin.v1.SessionService",
    ]);
    expect([...readContract().files.files].filter(({ name }) => name.includes("admin"))).to.deep.equal([]);
  });
});

for (const engine of ENGINES_OF_STAGE) {
  describe(`operators whom somebody wrote into the database (${engine})`, () => {
    let opened: TestDatabase;
    let stored: StoredAdministration;
    before(async () => {
      opened = await openTestDatabase(engine);
      stored = new StoredAdministration(opened.database, {
        now: () => toUnixMillis(Date.now()),
        fourEyes: new Set(FOUR_EYES_GROUPS),
      });
    });
    after(() => opened.dispose());

    it("are none, with any key", async () => {
      const { operator: ann } = await makeOperator(stored, "Ann", ["admin"]);
      const { sha256 } = newKey();
      await execute(
        opened.address,
        `INSERT INTO operator_acts (seq, kind, operator_id, name, roles, key_sha256, actor, recorded_at)
         VALUES (2, 'operator.created', 'opr_x', 'Mallory', 'admin', '${sha256}', 'operator', 5)`,
      );
      expect(await stored.operatorWithKey(sha256)).to.equal(undefined);
      expect((await stored.operators()).map(({ name }) => name)).to.deep.equal(["Ann"]);
      const content = '{"format":"kesc-act-2","name":"revokeOperator","operatorId":"opr_x","shown":[]}';
      const later = String(Date.now() + 1_000_000);
      await execute(
        opened.address,
        `INSERT INTO operator_proposals (id, content, proposed_by, proposed_at, expires_at)
         VALUES ('prp_x', '${content}', 'opr_x', 5, ${later})`,
      );
      expect(await stored.proposals(ALL_PROPOSALS)).to.deep.equal([]);
      expect(await decideOn(stored, "approve", { id: "prp_x" as ProposalId, by: ann })).to.equal("PROPOSAL_NOT_FOUND");
    });
  });
}
