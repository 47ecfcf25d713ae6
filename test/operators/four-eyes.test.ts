import { expect } from "chai";

import { type OperatorName, passkeyIdOf } from "../../src/domain/operator.js";
import type { PersonAct } from "../../src/domain/people/operations.js";
import type { OperatorId, ProposalId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { ProposalState, Role } from "../../src/gen/kesc/admin/v1/resources.js";
import { LimitPeriod as Period } from "../../src/gen/kesc/v1/organization.js";
import { TransactionType } from "../../src/gen/kesc/v1/transaction.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { actOn, decideOn } from "../support/people.js";
import {
  approved,
  type GivenOperator,
  newKey,
  type OperatorService,
  proposalOf,
  startOperatorService,
} from "./given.js";

const DAY_MILLIS = 86_400_000;
const ALL = { include_closed: true, page_size: 1_000 };

for (const engine of ENGINES) {
  describe(`four eyes (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let alice: GivenOperator;
    let bob: GivenOperator;
    let organization_id = "";
    let later = 0;

    before(async () => {
      service = await startOperatorService(engine, { now: () => toUnixMillis(Date.now() + later) });
      [admin] = service.admin;
      alice = await service.operator("Alice", "admin");
      bob = await service.operator("Bob", "approver");
      organization_id = service.tenant.organizationId;
    });
    after(() => service.dispose());

    const proposeKey = async (scopes = ["accounts:write"], by = alice) => {
      const request = { organization_id, name: "k", scopes, never_expires: true };
      const { response, proposalId: id, reason } = await admin.call(Rpcs.createApiKey, request, by);
      return { id, key: response?.api_key, secret: response?.secret ?? "", reason };
    };
    const stateOf = async (id: string | undefined) => (await proposalOf(admin, id, bob))?.state;
    const works = async (key: string): Promise<boolean> => {
      const user = { user_id: "x", phone_number: "0712345678" };
      const { reason } = await service.publicly.call("CreateAccount", user, { key });
      return reason !== "INVALID_API_KEY";
    };

    it("a key that may write works once another person has approved it, and is exactly as proposed", async () => {
      const { id, key, secret } = await proposeKey();
      expect(key).to.equal(undefined);
      expect(await works(secret)).to.equal(false);
      expect(await approved(admin, id, alice)).to.equal("OWN_PROPOSAL");
      expect(await works(secret)).to.equal(false);
      expect(await approved(admin, id, bob)).to.equal(undefined);
      expect(await works(secret)).to.equal(true);
      const { response } = await admin.call(Rpcs.listJournal, { organization_id, own: true, page_size: 2 }, bob);
      const rows = (response?.entries ?? []).map(({ line, operator_names }) => [
        line?.type,
        line?.actor,
        operator_names,
      ]);
      const both = [`${alice.operator.id},${bob.operator.id}`, ["Alice", "Bob"]];
      expect(rows).to.deep.equal(["book.proposal_approved", "key.created"].map((type) => [type, ...both]));
    });

    it("a key that only reads, and one of a sandbox, need nobody else", async () => {
      expect((await proposeKey(["accounts:read"])).id).to.equal(undefined);
      const sandbox = await admin.call(Rpcs.createOrganization, { name: `S${engine}`, sandbox: true }, alice);
      const request = { organization_id: sandbox.response?.organization?.id ?? "", name: "k", never_expires: true };
      const made = await admin.call(Rpcs.createApiKey, { ...request, scopes: ["accounts:write"] }, alice);
      expect(made.response?.api_key?.name).to.equal("k");
    });

    it("a resumption waits, and the suspension does not", async () => {
      const suspension = { organization_id, note: "case 17" };
      const suspended = await admin.call(Rpcs.suspendOrganization, suspension, alice);
      expect(suspended.response?.organization?.suspended).to.equal(true);
      const { response, proposalId } = await admin.call(Rpcs.resumeOrganization, suspension, alice);
      const isSuspended = async (): Promise<boolean | undefined> =>
        (await admin.call(Rpcs.getOrganization, { organization_id }, bob)).response?.organization?.suspended;
      expect([response?.organization, await isSuspended()]).to.deep.equal([undefined, true]);
      expect(await approved(admin, proposalId, bob)).to.equal(undefined);
      expect(await isSuspended()).to.equal(false);
    });

    it("an equal proposal of the same person is the one that waits", async () => {
      const request = { organization_id, note: "twice" };
      // What is so already needs nobody.
      const nothing = await admin.call(Rpcs.resumeOrganization, request, alice);
      expect([nothing.replayed, nothing.proposalId]).to.deep.equal([true, undefined]);
      await admin.call(Rpcs.suspendOrganization, request, alice);
      const ids = await Promise.all(
        service.admin.map(async (caller) => {
          return (await caller.call(Rpcs.resumeOrganization, request, alice)).proposalId;
        }),
      );
      expect(ids[0]).to.be.a("string");
      expect(ids[1]).to.equal(ids[0]);
      expect((await admin.call(Rpcs.rejectProposal, { proposal_id: ids[0] ?? "" }, alice)).code).to.equal(0);
      expect(await stateOf(ids[0])).to.equal(ProposalState.PROPOSAL_STATE_REJECTED);
      expect(await approved(admin, ids[0], bob)).to.equal("PROPOSAL_CLOSED");
      const { proposalId } = await admin.call(Rpcs.resumeOrganization, request, alice);
      expect(await approved(admin, proposalId, bob)).to.equal(undefined);
    });

    it("a proposal is done once, however often a person approves it at two servers at once", async () => {
      const { id } = await proposeKey();
      const before = await service.stored.apiKeys(service.tenant.organizationId);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => approved(service.admin[index % 2] ?? admin, id, bob)),
      );
      // All but one change nothing.
      expect(answers).to.deep.equal(Array<undefined>(10).fill(undefined));
      expect(await service.stored.apiKeys(service.tenant.organizationId)).to.have.lengthOf(before.length + 1);
    });

    it("an approval and a rejection at once: one of them holds", async () => {
      const { id = "", secret } = await proposeKey();
      const [first, second] = await Promise.all([
        approved(service.admin[0], id, bob),
        service.admin[1].call(Rpcs.rejectProposal, { proposal_id: id }, bob),
      ]);
      expect([first, second.reason].filter((reason) => reason === "PROPOSAL_CLOSED")).to.have.lengthOf(1);
      expect(await works(secret)).to.equal(first === undefined);
    });

    it("a new operator waits: an admin alone cannot make a second person", async () => {
      const { key, sha256: key_sha256 } = newKey();
      const request = { name: "Mallory", roles: [Role.ROLE_APPROVER], key_sha256 };
      const { response, proposalId } = await admin.call(Rpcs.createOperator, request, alice);
      expect(response?.operator).to.equal(undefined);
      expect((await admin.call(Rpcs.whoAmI, {}, { key })).reason).to.equal("INVALID_OPERATOR_KEY");
      expect(await approved(admin, proposalId, { key })).to.equal("INVALID_OPERATOR_KEY");
      const roles = { operator_id: bob.operator.id, roles: [Role.ROLE_VIEWER] };
      const replaced = { operator_id: bob.operator.id, key_sha256 };
      expect((await admin.call(Rpcs.setOperatorRoles, roles, alice)).response?.operator).to.equal(undefined);
      expect((await admin.call(Rpcs.replaceOperatorKey, replaced, alice)).response?.operator).to.equal(undefined);
      expect(await approved(admin, proposalId, bob)).to.equal(undefined);
      const known = await admin.call(Rpcs.whoAmI, {}, { key });
      expect(known.response?.operator?.roles).to.deep.equal([Role.ROLE_APPROVER]);
      const acts = await admin.call(Rpcs.listOperatorActs, { page_size: 1 }, bob);
      expect(acts.response?.acts[0]?.operator_names).to.deep.equal(["Alice", "Bob"]);
    });

    it("a proposal that is older than another change of the same limit cannot be approved", async () => {
      const limitOf = (max_amount: string) => ({
        organization_id,
        tier: "",
        remove: false,
        note: "case 18",
        changes: [
          {
            type: TransactionType.TRANSACTION_TYPE_MINT,
            period: Period.LIMIT_PERIOD_TRANSACTION,
            max_amount,
            lift: false,
          },
        ],
      });
      await admin.call(Rpcs.setLimits, limitOf("1000.00"), alice);
      const { proposalId: proposal_id = "" } = await admin.call(Rpcs.setLimits, limitOf("50000.00"), alice);
      // To lower a limit takes one person.
      await admin.call(Rpcs.setLimits, limitOf("10.00"), alice);
      const outdated = await admin.call(Rpcs.approveProposal, { proposal_id }, bob);
      const what = "organization: one mint";
      const facts = { proposal_id, what, before: "1,000.00 KES", now: "10.00 KES" };
      expect(outdated).to.deep.include({ reason: "PROPOSAL_OUTDATED", facts });
      const { response: limits } = await admin.call(Rpcs.getLimits, { organization_id }, bob);
      expect(limits?.limits?.limits[0]?.max_amount).to.equal("10.00");
      // Who asks again asks about the limit of now.
      const { proposalId: again } = await admin.call(Rpcs.setLimits, limitOf("50000.00"), alice);
      expect((await proposalOf(admin, again, bob))?.changes).to.deep.include({
        what,
        before: "10.00 KES",
        after: "50,000.00 KES",
      });
      expect(await approved(admin, again, bob)).to.equal(undefined);
    });

    it("a proposal that is older than another change of the same roles cannot be approved", async () => {
      const { id: operator_id } = (await service.operator("Hana", "finance")).operator;
      const operatorId = operator_id;
      const roles = [Role.ROLE_FINANCE, Role.ROLE_ADMIN];
      const ask = { operator_id, roles };
      const { proposalId: proposal_id = "" } = await admin.call(Rpcs.setOperatorRoles, ask, alice);
      await actOn(service.stored, { name: "setOperatorRoles", operatorId, roles: ["viewer"] });
      const outdated = await admin.call(Rpcs.approveProposal, { proposal_id }, bob);
      const facts = { proposal_id, what: "roles", before: "finance", now: "viewer" };
      expect(outdated).to.deep.include({ reason: "PROPOSAL_OUTDATED", facts });
      const { proposalId: again } = await admin.call(Rpcs.setOperatorRoles, ask, alice);
      expect((await proposalOf(admin, again, bob))?.changes).to.deep.equal([
        { what: "person", before: "Hana", after: "Hana" },
        { what: "roles", before: "viewer", after: "finance, admin" },
        { what: "earlier changes of the person", before: "2", after: "2" },
      ]);
      expect(await approved(admin, again, bob)).to.equal(undefined);
    });

    describe("about an operator", () => {
      const sha256 = (): string => newKey().sha256;
      type Fields = Parameters<typeof actOn>[1];
      /** Every act. One that is missing does not compile. Undefined: one person does it. */
      const acts: { readonly [Name in PersonAct["name"]]: ((operatorId: OperatorId) => Fields) | undefined } = {
        createOperator: () => {
          const operatorName = "Ines" as OperatorName;
          return { name: "createOperator", operatorName, roles: ["viewer"], keySha256: sha256() };
        },
        setOperatorRoles: (operatorId) => ({ name: "setOperatorRoles", operatorId, roles: ["finance", "approver"] }),
        replaceOperatorKey: (operatorId) => ({ name: "replaceOperatorKey", operatorId, keySha256: sha256() }),
        addPasskey: (operatorId) => {
          const passkeySha256 = sha256();
          return { name: "addPasskey", operatorId, passkeySha256, passkeyId: passkeyIdOf(passkeySha256) };
        },
        removePasskey: undefined,
        revokeOperator: undefined,
      };
      const now = () => toUnixMillis(Date.now());
      const stored = () => new StoredAdministration(service.opened.database, { now, fourEyes: new Set(["operators"]) });
      const proposed = async (act: Fields): Promise<ProposalId> => {
        const outcome = await actOn(stored(), act, alice.operator);
        const id = outcome.kind === "done" ? outcome.resource.proposal?.id : undefined;
        if (id === undefined) throw new Error(outcome.kind);
        return id;
      };
      const approval = (id: ProposalId) => decideOn(stored(), "approve", { id, by: bob.operator });

      for (const [index, [name, actOf]] of Object.entries(acts).entries()) {
        if (actOf === undefined) continue;
        it(`${name}: no later act about the same one is undone, and no rejection`, async () => {
          const { id: operatorId } = (await service.operator(`Hugo ${String(index)}`, "finance")).operator;
          const act = actOf(operatorId);
          const first = await proposed(act);
          if ("operatorId" in act) {
            for (const roles of [["finance", "approver"], ["finance"]] as const) {
              await actOn(service.stored, { name: "setOperatorRoles", operatorId, roles });
            }
            expect(await approval(first)).to.equal("PROPOSAL_OUTDATED");
            // The same again is another proposal, about the operator of now.
            expect(await proposed(act)).not.to.equal(first);
          }
          const second = await proposed(act);
          expect(await decideOn(stored(), "reject", { id: second, by: bob.operator })).to.equal("done");
          expect(await approval(second)).to.equal("PROPOSAL_CLOSED");
        });
      }
    });

    it("nobody approves what changes their own power, whoever has proposed it", async () => {
      const ivan = await service.operator("Ivan", "approver");
      const { id: operator_id } = ivan.operator;
      for (const [rpc, request] of [
        [Rpcs.setOperatorRoles, { operator_id, roles: [Role.ROLE_ADMIN] }],
        [Rpcs.replaceOperatorKey, { operator_id, key_sha256: newKey().sha256 }],
      ] as const) {
        const { proposalId } = await admin.call(rpc as typeof Rpcs.setOperatorRoles, request as never, alice);
        expect(await approved(admin, proposalId, ivan)).to.equal("OWN_PROPOSAL");
        const mine = await admin.call(Rpcs.listProposals, { ...ALL, for_me: true }, ivan);
        expect(mine.response?.proposals.map(({ id }) => id)).not.to.include(proposalId);
        expect(await approved(admin, proposalId, bob)).to.equal(undefined);
      }
    });

    it("the same person cannot approve with another key either", async () => {
      const dora = await service.operator("Dora", "admin");
      const { id } = await proposeKey(["accounts:write"], dora);
      const { key, sha256: keySha256 } = newKey();
      const act = { name: "replaceOperatorKey", operatorId: dora.operator.id, keySha256 } as const;
      await actOn(service.stored, act);
      expect(await approved(admin, id, { key })).to.equal("OWN_PROPOSAL");
    });

    it("an operator who could never be made is not proposed", async () => {
      const key_sha256 = newKey().sha256;
      const hers = newKey();
      const zoe = await actOn(service.stored, {
        name: "createOperator",
        operatorName: "Zoe" as OperatorName,
        roles: ["viewer"],
        keySha256: hers.sha256,
      });
      const operator_id = zoe.kind === "done" ? (zoe.resource.resource?.id ?? "") : "";
      const roles = [Role.ROLE_VIEWER];
      for (const request of [
        { name: "zoe", roles, key_sha256 },
        { name: "Zed", roles, key_sha256: hers.sha256 },
      ]) {
        const { reason, facts } = await admin.call(Rpcs.createOperator, request, alice);
        expect([reason, facts]).to.deep.equal(["OPERATOR_ALREADY_EXISTS", { operator_id }]);
      }
      await admin.call(Rpcs.revokeOperator, { operator_id }, alice);
      expect((await admin.call(Rpcs.setOperatorRoles, { operator_id, roles }, alice)).reason).to.equal(
        "OPERATOR_REVOKED",
      );
      const unknown = { operator_id: "opr_01jzzzzzzzzzzzzzzzzzzzzzzz", roles };
      expect((await admin.call(Rpcs.setOperatorRoles, unknown, alice)).reason).to.equal("OPERATOR_NOT_FOUND");
    });

    it("what an approved act refuses leaves the proposal as it was", async () => {
      const { sha256: key_sha256 } = newKey();
      const { proposalId } = await admin.call(
        Rpcs.createOperator,
        { name: "Erin", roles: [Role.ROLE_VIEWER], key_sha256 },
        alice,
      );
      await service.operator("erin", "viewer");
      expect(await approved(admin, proposalId, bob)).to.equal("OPERATOR_ALREADY_EXISTS");
      expect(await stateOf(proposalId)).to.equal(ProposalState.PROPOSAL_STATE_PENDING);
    });

    it("a proposal lapses with the role of its proposer, and with the proposer", async () => {
      const lapsed = ProposalState.PROPOSAL_STATE_LAPSED;
      const frank = await service.operator("Frank", "admin");
      const { id } = await proposeKey(["accounts:write"], frank);
      const { id: operatorId } = frank.operator;
      await actOn(service.stored, { name: "setOperatorRoles", operatorId, roles: ["viewer"] });
      expect([await approved(admin, id, bob), await stateOf(id)]).to.deep.equal(["PROPOSAL_CLOSED", lapsed]);
      await actOn(service.stored, { name: "setOperatorRoles", operatorId, roles: ["admin"] });
      // The role came back. The proposal did not.
      expect([await approved(admin, id, bob), await stateOf(id)]).to.deep.equal(["PROPOSAL_CLOSED", lapsed]);
      const { id: again } = await proposeKey(["accounts:write"], frank);
      await actOn(service.stored, { name: "revokeOperator", operatorId });
      expect([await approved(admin, again, bob), await stateOf(again)]).to.deep.equal(["PROPOSAL_CLOSED", lapsed]);
    });

    it("the equal command of another is no approval once the proposer has lost the role", async () => {
      const gina = await service.operator("Gina", "admin");
      const request = { organization_id, note: "case 19" };
      await admin.call(Rpcs.suspendOrganization, request, alice);
      const { proposalId: lapsed } = await admin.call(Rpcs.resumeOrganization, request, gina);
      const { id: operatorId } = gina.operator;
      await actOn(service.stored, { name: "setOperatorRoles", operatorId, roles: ["viewer"] });
      const { response, proposalId: own } = await admin.call(Rpcs.resumeOrganization, request, alice);
      expect([response?.organization, own === lapsed]).to.deep.equal([undefined, false]);
      expect(await approved(admin, own, bob)).to.equal(undefined);
    });

    it("has at most 20 proposals of one person waiting", async () => {
      const grace = await service.operator("Grace", "admin");
      const reasons: unknown[] = [];
      for (let count = 0; count <= 20; count += 1) reasons.push((await proposeKey(["accounts:write"], grace)).reason);
      expect(reasons).to.deep.equal([...Array<undefined>(20).fill(undefined), "TOO_MANY_PROPOSALS"]);
    });

    it("no statement changes or removes an act, a proposal or a decision", async () => {
      for (const [table, column] of [
        ["operator_acts", "kind"],
        ["operator_proposals", "content"],
        ["operator_decisions", "decision"],
        ["operator_chain", "mac"],
      ] as const) {
        for (const statement of [`UPDATE ${table} SET ${column} = ${column}`, `DELETE FROM ${table}`]) {
          const error = await execute(service.opened.address, statement).catch((thrown: unknown) => thrown);
          expect(String(error)).to.include(`${table} is append-only`);
        }
      }
    });

    // PostgreSQL refuses a server whose clock is ahead of its own.
    if (engine === "postgres") return;
    it("nothing is approved after three days", async () => {
      const { id } = await proposeKey();
      later = 3 * DAY_MILLIS + 1;
      try {
        expect(await approved(admin, id, bob)).to.equal("PROPOSAL_CLOSED");
        expect(await stateOf(id)).to.equal(ProposalState.PROPOSAL_STATE_LAPSED);
      } finally {
        later = 0;
      }
    });
  });
}
