import { expect } from "chai";

import { AdminServiceService as Admin } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { PayoutMode, Role as RoleMessage } from "../../src/gen/kesc/admin/v1/resources.js";
import { SessionServiceService as Sessions } from "../../src/gen/kesc/admin/v1/session_service.js";
import { TransactionServiceService as Transactions } from "../../src/gen/kesc/v1/transaction_service.js";
import { tokenSha256Of } from "../../src/operators/session.js";
import { Authenticator, type Said } from "../support/authenticator.js";
import { ENGINES, execute } from "../support/databases.js";
import { newTransactionId } from "../support/names.js";
import { actOn } from "../support/people.js";
import { secretsIn } from "../support/service/secrets.js";
import { proposalOf } from "./given.js";
import { type SignedInPerson, SignInService } from "./signing-in.js";

const MINUTE = 60_000;

for (const engine of ENGINES) {
  describe(`signing in (${engine})`, () => {
    let given: SignInService;
    /** An admin with a key, who has invited nobody yet. */
    let amina: Awaited<ReturnType<SignInService["service"]["operator"]>>;
    let brian: Authenticator;

    before(async () => {
      given = await SignInService.start(engine);
      amina = await given.service.operator("Amina", "admin");
      brian = await given.person("Brian", "approver", "finance");
    });
    after(() => given.service.dispose());

    /** An act that needs a fresh session. It is only proposed. */
    const setRoles = (person: Pick<SignedInPerson, "token">) => {
      const request = { operator_id: amina.operator.id, roles: [RoleMessage.ROLE_VIEWER] };
      return given.as(person, Admin.setOperatorRoles, request);
    };

    it("registers a passkey with an invitation, and signs in with it", async () => {
      const person = await given.session(brian);
      const { response } = await given.as(person, Admin.whoAmI, {});
      expect(response?.operator).to.include({ name: "Brian" });
      expect(response?.operator?.passkeys).to.have.lengthOf(1);
      expect(response?.session).to.include({ id: person.sessionId, operator_name: "Brian" });
      expect(response?.session?.passkey_id).to.equal(response?.operator?.passkeys[0]?.id);
      expect(person.token).to.match(/^kesc_ses_[A-Za-z0-9_-]{43}$/);
    });

    it("lets another person approve whom an admin has invited", async () => {
      const roles = [RoleMessage.ROLE_VIEWER];
      const request = { name: "Carol", roles };
      const invited = await given.admin.call(Sessions.createInvitation, request, { key: amina.key });
      const { token: invitation = "", link = "" } = invited.response ?? {};
      expect(link).to.equal(`http://localhost:8081/invitation#${invitation}`);
      const described = await given.admin.call(Sessions.getSignInToken, { token: invitation });
      expect(described.response?.operator_name).to.equal("Carol");
      const carol = new Authenticator();
      const response_json = carol.create(await given.options(invitation));
      const registered = await given.admin.call(Sessions.registerPasskey, { invitation, response_json });
      const { passkey_id: id = "", operator } = registered.response ?? {};
      const { proposalId: proposal_id = "" } = registered;
      expect(id).to.match(/^[0-9a-z]{12}$/);
      expect(operator).to.equal(undefined);
      expect((await proposalOf(given.admin, proposal_id, amina))?.content).to.include(id);
      expect((await given.signedIn(carol.get(await given.options()))).reason).to.equal("SIGN_IN_REFUSED");
      const own = await given.admin.call(Admin.approveProposal, { proposal_id }, { key: amina.key });
      expect(own.reason).to.equal("OWN_PROPOSAL");
      const approver = await given.session(brian);
      expect((await given.as(approver, Admin.approveProposal, { proposal_id })).reason).to.equal(undefined);
      const signed = await given.session(carol);
      expect((await given.as(signed, Admin.whoAmI, {})).response?.operator?.name).to.equal("Carol");
    });

    it("adds a second passkey, and ends the sessions of one that is removed", async () => {
      const first = await given.person("Dora", "support");
      const person = await given.session(first);
      const operator_id = person.operatorId;
      const { token: invitation } = await given.signIn.invite({ operatorId: operator_id as never }, undefined);
      const second = new Authenticator();
      const options = await given.options(invitation);
      expect(JSON.parse(options)).to.have.nested.property("excludeCredentials[0].id", first.id.toString("base64url"));
      const response_json = second.create(options);
      const added = await given.admin.call(Sessions.registerPasskey, { invitation, response_json });
      expect(added.response?.operator?.passkeys).to.have.lengthOf(2);
      const other = await given.session(second);
      const passkey_id = added.response?.passkey_id ?? "";
      const remove = () => given.as(person, Sessions.removePasskey, { operator_id, passkey_id });
      expect((await remove()).replayed).to.equal(false);
      expect((await remove()).replayed).to.equal(true);
      expect(await given.refusalOf(other)).to.equal("INVALID_OPERATOR_KEY");
      expect(await given.refusalOf(person)).to.equal(undefined);
      const unknown = await given.as(person, Sessions.removePasskey, { operator_id, passkey_id: "000000000000" });
      expect(unknown.reason).to.equal("PASSKEY_NOT_FOUND");
      const foreign = await given.as(person, Sessions.removePasskey, { operator_id: amina.operator.id, passkey_id });
      expect(foreign.reason).to.equal("ROLE_REQUIRED");
    });

    describe("a code", () => {
      const code = async () =>
        (await given.admin.call(Sessions.createSignInCode, {}, { key: amina.key })).response?.code ?? "";
      const use = async (text: string) => given.admin.call(Sessions.createSession, { response_json: "", code: text });

      it("signs in once, and its session is never fresh", async () => {
        const text = await code();
        expect((await given.admin.call(Sessions.getSignInToken, { token: text })).response?.operator_name).to.equal(
          "Amina",
        );
        const { response } = await use(text);
        const person = { token: response?.token ?? "", sessionId: "", operatorId: "", passkey: brian };
        expect(response?.session?.passkey_id).to.equal(undefined);
        expect(await given.refusalOf(person)).to.equal(undefined);
        expect((await setRoles(person)).reason).to.equal("VERIFICATION_REQUIRED");
        // To find a person is a look, and needs what a look needs.
        const organization_id = given.service.tenant.organizationId;
        for (const [sought, reason] of [
          ["0712345678", "VERIFICATION_REQUIRED"],
          ["amina@example.co.\u212Ae", "VERIFICATION_REQUIRED"],
          ["a reference", undefined],
        ] as const) {
          expect((await given.as(person, Admin.lookUp, { organization_id, text: sought })).reason).to.equal(reason);
        }
        expect((await given.verify(person)).reason).to.equal("SIGN_IN_REFUSED");
        expect((await given.as(person, Sessions.createSignInCode, {})).reason).to.equal("MISSING_OPERATOR_KEY");
        expect((await use(text)).reason).to.equal("SIGN_IN_REFUSED");
      });

      it("ends after 5 minutes, when 5 newer ones are made, and with the key that made it", async () => {
        const late = await code();
        given.pass(5 * MINUTE + 1);
        expect((await use(late)).reason).to.equal("SIGN_IN_REFUSED");
        const oldest = await code();
        given.pass(1);
        for (let newer = 0; newer < 5; newer += 1) await code();
        expect((await use(oldest)).reason).to.equal("SIGN_IN_REFUSED");
        const { operator, key } = await given.service.operator(`Eve ${engine}`, "viewer");
        const made = await given.admin.call(Sessions.createSignInCode, {}, { key });
        const { response } = await use(made.response?.code ?? "");
        const replaced = { name: "replaceOperatorKey", operatorId: operator.id, keySha256: "a".repeat(64) } as const;
        await actOn(given.service.stored, replaced);
        expect(await given.refusalOf({ token: response?.token ?? "" })).to.equal("INVALID_OPERATOR_KEY");
      });
    });

    it("stores no challenge before it is used, so nobody can fill the database", async () => {
      const rows = () =>
        execute<{ n: number }>(given.service.opened.address, "SELECT COUNT(*) AS n FROM sign_in_tokens");
      const before = await rows();
      const [response = ""] = await Promise.all(
        Array.from({ length: 20 }, async () => brian.get(await given.options())),
      );
      expect(await rows()).to.deep.equal(before);
      expect((await given.signedIn(response)).reason).to.equal(undefined);
    });

    describe("what is refused", () => {
      const refused = async (response: string): Promise<void> => {
        const { code, reason } = await given.signedIn(response);
        expect([code, reason]).to.deep.equal([16, "SIGN_IN_REFUSED"]);
      };

      const FORGERIES: readonly (readonly [string, Said])[] = [
        ["another origin", { origin: "https://evil.example" }],
        ["another port", { origin: "http://localhost:8082" }],
        ["another name", { rpId: "evil.example" }],
        ["a frame of another origin", { client: { crossOrigin: true } }],
        ["a page around it", { client: { topOrigin: "https://evil.example" } }],
        ["no user verification", { flags: 0x01 }],
        ["the type of another call", { client: { type: "webauthn.create" } }],
        ["a challenge that nobody gave", { challenge: Buffer.alloc(54, 7).toString("base64url") }],
      ];
      for (const [name, said] of FORGERIES) {
        it(`a response with ${name}`, async () => {
          await refused(brian.get(await given.options(), said));
        });
      }

      it("a response that was used, is for another purpose, or is older than 5 minutes", async () => {
        const response = brian.get(await given.options());
        expect((await given.signedIn(response)).reason).to.equal(undefined);
        await refused(response);
        await refused(brian.get(await given.options(await given.invitation("Nobody", "viewer"))));
        const late = brian.get(await given.options());
        given.pass(5 * MINUTE + 1);
        await refused(late);
      });

      it("the passkey of nobody, another passkey's signature, and what is no response", async () => {
        await refused(new Authenticator().get(await given.options()));
        const foreign = JSON.parse(new Authenticator().get(await given.options())) as object;
        const id = brian.id.toString("base64url");
        await refused(JSON.stringify({ ...foreign, id, rawId: id }));
        for (const text of ["{", "[]", "null", '{"id":1}', '{"id":"AA","response":{"clientDataJSON":"AA"}}']) {
          await refused(text);
        }
      });

      it("an invitation that was used, is older than an hour, or whose inviter is no admin any more", async () => {
        const register = async (invitation: string, options: string) => {
          const response_json = new Authenticator().create(options);
          return (await given.admin.call(Sessions.registerPasskey, { invitation, response_json })).reason;
        };
        const used = await given.invitation(`Used ${engine}`, "viewer");
        const usedOptions = await given.options(used);
        expect(await register(used, usedOptions)).to.equal(undefined);
        expect(await register(used, usedOptions)).to.equal("SIGN_IN_REFUSED");
        expect(await given.options(used)).to.equal("");

        const foreign = await given.options(await given.invitation("Foreign", "viewer"));
        const late = await given.invitation("Late", "viewer");
        expect(await register(late, foreign)).to.equal("SIGN_IN_REFUSED");
        given.pass(60 * MINUTE + 1);
        expect(await given.options(late)).to.equal("");

        const gone = await given.service.operator(`Gone ${engine}`, "admin");
        const request = { name: "Invited", roles: [RoleMessage.ROLE_VIEWER] };
        const { response } = await given.admin.call(Sessions.createInvitation, request, { key: gone.key });
        const invitation = response?.token ?? "";
        const options = await given.options(invitation);
        await actOn(given.service.stored, { name: "revokeOperator", operatorId: gone.operator.id });
        expect(await register(invitation, options)).to.equal("SIGN_IN_REFUSED");
      });
    });

    describe("a session", () => {
      it("ends after 30 minutes without use, and not before", async () => {
        const person = await given.session(brian);
        given.pass(30 * MINUTE);
        expect(await given.refusalOf(person)).to.equal(undefined);
        given.pass(30 * MINUTE);
        expect(await given.refusalOf(person)).to.equal(undefined);
        given.pass(30 * MINUTE + 1);
        expect(await given.refusalOf(person)).to.equal("INVALID_OPERATOR_KEY");
      });

      it("ends after 12 hours, however much it is used", async () => {
        const person = await given.session(brian);
        for (let quarter = 0; quarter < 48; quarter += 1) {
          given.pass(15 * MINUTE);
          expect(await given.refusalOf(person)).to.equal(undefined);
        }
        given.pass(1);
        expect(await given.refusalOf(person)).to.equal("INVALID_OPERATOR_KEY");
      });

      it("ends at sign-out, with its operator, and when the person has 10 newer ones", async () => {
        const passkey = await given.person(`Frank ${engine}`, "viewer");
        const out = await given.session(passkey);
        const end = await given.as(out, Sessions.endSession, { session_id: "" });
        expect([end.response, end.replayed]).to.deep.equal([{}, false]);
        expect(await given.refusalOf(out)).to.equal("INVALID_OPERATOR_KEY");

        const oldest = await given.session(passkey);
        given.pass(1);
        const newer: SignedInPerson[] = [];
        for (let count = 0; count < 10; count += 1) newer.push(await given.session(passkey));
        expect(await given.refusalOf(oldest)).to.equal("INVALID_OPERATOR_KEY");
        const { response } = await given.as(newer[0] ?? out, Sessions.listSessions, { operator_id: "" });
        expect(response?.sessions.map(({ id }) => id)).to.have.members(newer.map(({ sessionId }) => sessionId));

        await actOn(given.service.stored, { name: "revokeOperator", operatorId: out.operatorId as never });
        expect(await given.refusalOf(newer[0] ?? out)).to.equal("INVALID_OPERATOR_KEY");
      });

      it("of others is seen by an admin and a viewer, and ended by an admin", async () => {
        const person = await given.session(brian);
        const list = async (caller: SignedInPerson, operator_id: string) =>
          given.as(caller, Sessions.listSessions, { operator_id });
        const viewer = await given.session(await given.person(`Grace ${engine}`, "viewer"));
        expect((await list(person, viewer.operatorId)).reason).to.equal("ROLE_REQUIRED");
        expect((await list(viewer, person.operatorId)).response?.sessions).to.not.have.lengthOf(0);
        const request = { session_id: person.sessionId };
        expect((await given.as(viewer, Sessions.endSession, request)).reason).to.equal("ROLE_REQUIRED");
        const end = await given.admin.call(Sessions.endSession, request, { key: amina.key });
        expect([end.response, end.replayed]).to.deep.equal([{}, false]);
        expect(await given.refusalOf(person)).to.equal("INVALID_OPERATOR_KEY");
      });

      it("is fresh for 5 minutes after a verification", async () => {
        const person = await given.session(await given.person(`Heidi ${engine}`, "admin"));
        given.pass(5 * MINUTE);
        expect((await setRoles(person)).reason).to.equal(undefined);
        given.pass(1_000);
        expect((await setRoles(person)).reason).to.equal("VERIFICATION_REQUIRED");
        const foreign = await given.verify({ ...person, passkey: brian });
        expect(foreign.reason).to.equal("SIGN_IN_REFUSED");
        expect((await setRoles(person)).reason).to.equal("VERIFICATION_REQUIRED");
        expect((await given.verify(person)).reason).to.equal(undefined);
        expect((await setRoles(person)).reason).to.equal(undefined);
      });

      it("need not be fresh for a sandbox, for closing payouts, nor with a key", async () => {
        const person = await given.session(await given.person(`Ivan ${engine}`, "admin"));
        given.pass(6 * MINUTE);
        const made = await given.as(person, Admin.createOrganization, { name: `S ${engine}`, sandbox: true, cell: 0 });
        const resume = (organization_id = "") =>
          given.as(person, Admin.resumeOrganization, { organization_id, note: "case 17" });
        // PostgreSQL takes no commit of a clock that is ahead of its own.
        const sandbox = made.response?.organization?.id ?? "";
        expect((await resume(sandbox)).reason ?? "").to.match(/^(STORAGE_UNAVAILABLE)?$/);
        const resolve = async (organization: string): Promise<string | undefined> => {
          const outcome = { $case: "failed", value: {} } as const;
          const request = { transaction_id: newTransactionId(), outcome, note: "case 17" };
          const metadata = { "kesc-organization": organization };
          return (await given.as(person, Transactions.resolveTransaction, request, metadata)).reason;
        };
        expect(await resolve(sandbox)).to.match(/^(TRANSACTION_NOT_FOUND|STORAGE_UNAVAILABLE)$/);
        expect(await resolve(given.service.tenant.organizationId)).to.equal("VERIFICATION_REQUIRED");
        expect((await resume(given.service.tenant.organizationId)).reason).to.equal("VERIFICATION_REQUIRED");
        const { organizationId: organization_id } = given.service.tenant;
        const payouts = (mode: PayoutMode) =>
          given.as(person, Admin.setPayouts, { organization_id, rail: "mpesa", payouts: mode, note: "case 17" });
        expect((await payouts(PayoutMode.PAYOUT_MODE_CLOSED)).reason).to.match(
          /^(RAIL_ACCOUNT_NOT_FOUND|STORAGE_UNAVAILABLE)$/,
        );
        expect((await payouts(PayoutMode.PAYOUT_MODE_OPEN)).reason).to.equal("VERIFICATION_REQUIRED");
        const roles = { operator_id: person.operatorId, roles: [RoleMessage.ROLE_VIEWER] };
        expect((await given.admin.call(Admin.setOperatorRoles, roles, { key: amina.key })).reason).to.equal(undefined);
      });
    });

    it("writes no token into the log, and names the person", async () => {
      const { operatorId } = await given.session(brian);
      const text = given.service.lines.join("");
      expect(secretsIn(text)).to.deep.equal([]);
      expect(text).to.include(`"operator_id":"${operatorId}"`);
    });

    describe("the database alone", () => {
      const change = (sql: string): Promise<unknown> => execute(given.service.opened.address, sql);

      const CHANGES: readonly (readonly [string, (person: SignedInPerson) => string])[] = [
        ["the operator", () => `operator_id = '${amina.operator.id}'`],
        ["the last use", () => "used_at = used_at + 1"],
        ["the verification", () => "verified_at = verified_at + 1"],
        ["the passkey", () => `began_with = '${"0".repeat(64)}'`],
      ];
      for (const [name, set] of CHANGES) {
        it(`makes no session by a change of ${name}`, async () => {
          const person = await given.session(brian);
          await change(`UPDATE sessions SET ${set(person)} WHERE id = '${person.sessionId}'`);
          expect(await given.refusalOf(person)).to.equal("INVALID_OPERATOR_KEY");
          await change(`DELETE FROM sessions WHERE id = '${person.sessionId}'`);
        });
      }

      it("makes no session, no code, no invitation and no passkey by an insert", async () => {
        const sha256 = "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c";
        const token = `kesc_ses_${"A".repeat(43)}`;
        const mac = engine === "sqlite" ? `x'${sha256}'` : `'\\x${sha256}'`;
        const now = String(given.now);
        await change(
          `INSERT INTO sessions (id, token_sha256, operator_id, began_with, created_at, used_at, verified_at, mac)
           VALUES ('ses_1', '${tokenSha256Of(token)}', '${amina.operator.id}', '${sha256}', ${now}, ${now}, ${now}, ${mac})`,
        );
        expect(await given.refusalOf({ token })).to.equal("INVALID_OPERATOR_KEY");
        for (const [kind, text] of [
          ["code", `kesc_code_${"A".repeat(43)}`],
          ["invitation", `kesc_inv_${"A".repeat(43)}`],
        ] as const) {
          const content = JSON.stringify({ owner: "operator", invited: { name: "Mallory", roles: ["admin"] } });
          await change(
            `INSERT INTO sign_in_tokens (token_sha256, kind, content, created_at, expires_at, mac)
             VALUES ('${tokenSha256Of(text)}', '${kind}', '${content}', ${now}, ${now} + 100000, ${mac})`,
          );
          expect((await given.admin.call(Sessions.getSignInToken, { token: text })).reason).to.equal("SIGN_IN_REFUSED");
          await change(`DELETE FROM sign_in_tokens WHERE token_sha256 = '${tokenSha256Of(text)}'`);
        }
        await change("DELETE FROM sessions WHERE id = 'ses_1'");
      });

      it("gives nobody the passkey of another one", async () => {
        const mallory = new Authenticator();
        const id = brian.id.toString("base64url");
        const stolen = mallory.id.toString("base64url");
        await change(`UPDATE passkeys SET credential_id = '${stolen}' WHERE credential_id = '${id}'`);
        expect((await given.signedIn(mallory.get(await given.options()))).reason).to.equal("SIGN_IN_REFUSED");
        await change(`UPDATE passkeys SET credential_id = '${id}' WHERE credential_id = '${stolen}'`);
        expect((await given.signedIn(brian.get(await given.options()))).reason).to.equal(undefined);
      });
    });
  });
}
