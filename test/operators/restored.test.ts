import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import { pino } from "pino";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { HealthService } from "../../src/gen/health/v1/health.js";
import { AdminServiceService as Admin } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { SessionServiceService as Sessions } from "../../src/gen/kesc/admin/v1/session_service.js";
import { readContract, readOperatorsAddress, type RpcContract } from "../../src/grpc/messages/contract.js";
import { startServer } from "../../src/server.js";
import { confirmRestore, markRestored } from "../../src/storage/restores.js";
import type { Authenticator } from "../support/authenticator.js";
import type { GrpcCaller, GrpcOptions, Method } from "../support/callers/grpc-caller.js";
import { configOf } from "../support/config.js";
import { ENGINES } from "../support/databases.js";
import { NO_SEAL_KEY_FILE } from "../support/master-key.js";
import { type SignedInPerson, SignInService } from "./signing-in.js";

const PUBLIC_ADDRESS = readContract().services.flatMap(({ rpcs }) => rpcs);
const OPERATORS_ADDRESS = readOperatorsAddress().services.flatMap(({ rpcs }) => rpcs);

/** The reasons of a caller who is not believed. */
const NOT_BELIEVED = /^RESTORE_NOT_CONFIRMED$|^(MISSING|INVALID)_(API|OPERATOR)_KEY$/;
/** A watch that is served stays open until then. */
const WATCH_MILLIS = 1_000;

function methodOf({ path }: RpcContract): Method<object, unknown> {
  return { path, requestSerialize: () => Buffer.alloc(0), responseDeserialize: (bytes) => bytes };
}

// Each rpc of both contracts, as each kind of caller: a new rpc is here without a change.
for (const engine of ENGINES) {
  describe(`the callers of a restored database (${engine})`, () => {
    let given: SignInService;
    let passkey: Authenticator;
    /** A session of the time before the restore. */
    let earlier: SignedInPerson;
    let code: string;
    let invitation: string;
    let operatorKey: string;
    let isServed = false;
    const restore = (): Promise<number> => markRestored(given.service.opened.database, given.now);
    const confirm = (): Promise<void> => confirmRestore(given.service.opened.database, given.now);

    before(async () => {
      given = await SignInService.start(engine);
      const amina = await given.service.operator("Amina", "viewer", "support", "finance", "approver", "admin");
      operatorKey = amina.key;
      passkey = await given.person("Brian", "viewer", "support", "finance", "approver", "admin");
      earlier = await given.session(passkey);
      code = (await given.admin.call(Sessions.createSignInCode, {}, { key: operatorKey })).response?.code ?? "";
      invitation = await given.invitation("Carol", "viewer");
      await restore();
    });
    after(() => given.service.dispose());

    /** Calls each rpc with an empty request. Returns the different ends. */
    const endsOf = async (
      caller: GrpcCaller,
      rpcs: readonly RpcContract[],
      options: GrpcOptions,
    ): Promise<string[]> => {
      const replies = await Promise.all(
        rpcs.map((rpc) => {
          const watch = isServed && rpc.streams !== "none" ? { deadlineMillis: WATCH_MILLIS } : {};
          return caller.call(methodOf(rpc), {}, { ...given.soon, ...options, ...watch });
        }),
      );
      return [...new Set(replies.map((reply) => `${Status[reply.code] ?? ""} ${reply.reason ?? ""}`))];
    };
    const bearer = (token: string): GrpcOptions => {
      const metadata = { authorization: `Bearer ${token}`, "kesc-organization": given.service.tenant.organizationId };
      return { key: "", metadata };
    };
    const ofOrganizations = PUBLIC_ADDRESS.filter(({ isPublic }) => !isPublic);
    const ofOperators = OPERATORS_ADDRESS.filter(({ isPublic }) => !isPublic);
    const publicOfOperators = OPERATORS_ADDRESS.filter(({ isPublic }) => isPublic);
    const WAITS = ["UNAVAILABLE RESTORE_NOT_CONFIRMED"];

    it("are refused with a reason of its own, whatever the rpc and the credential", async () => {
      const { admin, service } = given;
      const key = { key: service.tenant.key };
      expect(await endsOf(service.publicly, ofOrganizations, key)).to.deep.equal(WAITS);
      expect(await endsOf(service.publicly, ofOrganizations, { key: `${service.tenant.key}x` })).to.deep.equal(WAITS);
      for (const token of [operatorKey, earlier.token]) {
        expect(await endsOf(admin, ofOperators, bearer(token)), token.slice(0, 9)).to.deep.equal(WAITS);
      }
      expect(await endsOf(admin, publicOfOperators, {})).to.deep.equal(WAITS);
      expect((await admin.call(Sessions.createSession, { code })).reason).to.equal("RESTORE_NOT_CONFIRMED");
    });

    it("learn when to repeat the call", async () => {
      const reply = await given.service.publicly.call("ListAccounts", {}, { key: given.service.tenant.key });
      expect(reply).to.include({ reason: "RESTORE_NOT_CONFIRMED", retrySeconds: 30 });
    });

    it("still get the callbacks of rails through, and the health of a server", async () => {
      const { publicly } = given.service;
      const open = PUBLIC_ADDRESS.filter(({ isPublic }) => isPublic);
      expect(open.map(({ localName }) => localName)).to.deep.equal(["receiveCallback"]);
      for (const end of await endsOf(publicly, open, {})) expect(end).not.to.match(/RESTORE|KEY/);
      expect((await publicly.call(HealthService.check, { service: "" })).code).to.equal(Status.OK);
    });

    it("are named in the log of a server that starts", async () => {
      const lines: string[] = [];
      const config = configOf({ KESC_GRPC_ADDRESS: "127.0.0.1:0", KESC_SEAL_KEY_FILE: NO_SEAL_KEY_FILE });
      const logger = pino({}, { write: (line: string) => lines.push(line) });
      const { database } = given.service.opened;
      const server = await startServer(config, { database, logger, now: () => toUnixMillis(given.now) });
      await server.stop();
      expect(lines.join("")).to.match(/"level":40.*the database was restored: .* kesc confirm-restore/);
    });

    it("are served once a person has confirmed the restore", async () => {
      await confirm();
      isServed = true;
      const { admin, service } = given;
      const answered = [
        ...(await endsOf(service.publicly, ofOrganizations, { key: service.tenant.key })),
        ...(await endsOf(admin, ofOperators, bearer(operatorKey))),
        ...(await endsOf(admin, publicOfOperators, {})),
      ];
      expect(answered).to.include("INVALID_ARGUMENT INVALID_FIELD").and.include("OK ");
      for (const end of answered) expect(end.split(" ")[1]).not.to.match(NOT_BELIEVED);
      const person = await given.session(passkey);
      expect((await given.as(person, Admin.whoAmI, {})).response?.operator?.name).to.equal("Brian");
    });

    it("have no session, sign-in code or invitation of the time before", async () => {
      expect(await given.refusalOf(earlier)).to.equal("INVALID_OPERATOR_KEY");
      for (const token of [code, invitation]) {
        expect((await given.admin.call(Sessions.getSignInToken, { token })).reason).to.equal("SIGN_IN_REFUSED");
      }
    });

    it("wait once more after the next restore, at most a second after it", async () => {
      const reasonNow = async (): Promise<string | undefined> => {
        const options = { key: given.service.tenant.key, ...given.soon };
        return (await given.service.publicly.call("ListAccounts", {}, options)).reason;
      };
      for (let times = 1; times <= 2; times += 1) {
        given.pass(1_000);
        await restore();
      }
      expect(await reasonNow()).to.equal("RESTORE_NOT_CONFIRMED");
      await confirm();
      expect(await reasonNow()).to.equal(undefined);
    });
  });
}
