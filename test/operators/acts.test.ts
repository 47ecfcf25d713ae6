import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { Role } from "../../src/gen/kesc/admin/v1/resources.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES } from "../support/databases.js";
import { type GivenOperator, newKey, type OperatorService, pagesOf, startOperatorService, textOf } from "./given.js";

const UNKNOWN_ORG = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";

for (const engine of ENGINES) {
  describe(`the acts of operators (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let alice: GivenOperator;
    let sam: GivenOperator;

    before(async () => {
      service = await startOperatorService(engine, { environment: { KESC_FOUR_EYES: "none" } });
      [admin] = service.admin;
      alice = await service.operator("Alice", "admin");
      sam = await service.operator("Sam", "support");
    });
    after(() => service.dispose());

    const create = async (name: string, sandbox = false): Promise<string> => {
      const reply = await admin.call(Rpcs.createOrganization, { name, sandbox }, alice);
      expect(reply.code, reply.message).to.equal(0);
      return reply.response?.organization?.id ?? "";
    };
    const makeKey = async (organization_id: string) => {
      const request = { organization_id, name: "k", scopes: ["accounts:read"], never_expires: true };
      return (await admin.call(Rpcs.createApiKey, request, alice)).response;
    };
    const actsOf = async (organization_id: string): Promise<string[]> => {
      const { response } = await admin.call(Rpcs.listJournal, { organization_id, own: true }, sam);
      return (response?.entries ?? []).map(
        ({ line, operator_names: names }) => `${line?.type ?? ""} ${line?.actor ?? ""} ${names.join()}`,
      );
    };

    it("stand in the organization's book, with the id of the person, and the list names the person", async () => {
      const organization_id = await create("Book");
      const api_key_id = (await makeKey(organization_id))?.api_key?.id ?? "";
      await admin.call(Rpcs.suspendOrganization, { organization_id, note: "case 17" }, sam);
      await admin.call(Rpcs.resumeOrganization, { organization_id, note: "case 17 is over" }, alice);
      await admin.call(Rpcs.revokeApiKey, { api_key_id }, sam);
      expect(await actsOf(organization_id)).to.deep.equal([
        `key.revoked ${sam.operator.id} Sam`,
        `organization.resumed ${alice.operator.id} Alice`,
        `organization.suspended ${sam.operator.id} Sam`,
        `key.created ${alice.operator.id} Alice`,
        `organization.created ${alice.operator.id} Alice`,
      ]);
    });

    it("make a key that works on the public address until it is revoked there", async () => {
      const organization_id = await create("Keys");
      const key = (await makeKey(organization_id))?.secret ?? "";
      expect(key).to.match(/^kesc_0_[A-Za-z0-9_-]{43}$/);
      expect((await service.publicly.call("ListAccounts", {}, { key })).code).to.equal(0);
      const { response: listed } = await admin.call(Rpcs.listApiKeys, { organization_id }, sam);
      expect(textOf(listed)).not.to.include(key);
    });

    it("change nothing when they are repeated, and say so", async () => {
      const organization_id = await create("Repeated");
      const again = await admin.call(Rpcs.createOrganization, { name: "Repeated", sandbox: true }, alice);
      expect([again.reason, again.facts]).to.deep.equal(["ORGANIZATION_ALREADY_EXISTS", { organization_id }]);
      const api_key_id = (await makeKey(organization_id))?.api_key?.id ?? "";
      const suspended = { organization_id, note: "case 17" };
      const calls = [
        () => admin.call(Rpcs.suspendOrganization, suspended, sam),
        () => admin.call(Rpcs.resumeOrganization, suspended, alice),
        () => admin.call(Rpcs.revokeApiKey, { api_key_id }, sam),
      ];
      for (const call of calls) {
        expect((await call()).replayed).to.equal(false);
        expect((await call()).replayed).to.equal(true);
      }
      expect(await actsOf(organization_id)).to.have.lengthOf(5);
    });

    it("of two equal organizations at once, at two servers, one is made", async () => {
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (service.admin[index % 2] ?? admin).call(Rpcs.createOrganization, { name: "Race" }, alice),
        ),
      );
      expect(replies.filter(({ code }) => code === 0)).to.have.lengthOf(1);
      expect(replies.filter(({ reason }) => reason === "ORGANIZATION_ALREADY_EXISTS")).to.have.lengthOf(9);
    });

    it("refuse what is unknown, and name each bad field", async () => {
      const organization_id = UNKNOWN_ORG;
      const note = "x";
      const OF_ORGANIZATION = [
        ...["suspendOrganization", "resumeOrganization", "getOrganization", "getOverview", "getLimits"],
        ...["listApiKeys", "listJournal", "listRailAccounts"],
        ...["listNeedsAttention", "listReserve", "listSeals"],
      ] as readonly (keyof typeof Rpcs)[];
      for (const rpc of OF_ORGANIZATION) {
        const method = Rpcs[rpc] as unknown as typeof Rpcs.suspendOrganization;
        const { reason, facts } = await admin.call(method, { organization_id, note }, alice);
        expect([reason, facts], rpc).to.deep.equal(["ORGANIZATION_NOT_FOUND", { organization_id }]);
      }
      const bad = await admin.call(
        Rpcs.createApiKey,
        {
          organization_id: "",
          name: " ",
          scopes: ["all"],
          expires_at: { seconds: 1n, nanos: 0 },
          never_expires: false,
        },
        alice,
      );
      expect(bad.fields?.map(({ field }) => field)).to.deep.equal(["organization_id", "name", "scopes", "expires_at"]);
    });

    it("are not found by an id that was never given out, whatever its letters", async () => {
      const { ROLE_VIEWER } = Role;
      const replies = await Promise.all([
        admin.call(Rpcs.getOrganization, { organization_id: "org_x" }, alice),
        admin.call(Rpcs.revokeApiKey, { api_key_id: "key_x" }, alice),
        admin.call(Rpcs.setOperatorRoles, { operator_id: "opr_x", roles: [ROLE_VIEWER] }, alice),
        admin.call(Rpcs.rejectProposal, { proposal_id: "prp_x" }, alice),
        admin.call(Rpcs.createOrganization, { name: "Cell", cell: 9 }, alice),
      ]);
      expect(replies.map(({ code, reason, facts }) => [code, reason, facts])).to.deep.equal([
        [Status.NOT_FOUND, "ORGANIZATION_NOT_FOUND", { organization_id: "org_x" }],
        [Status.NOT_FOUND, "API_KEY_NOT_FOUND", { api_key_id: "key_x" }],
        [Status.NOT_FOUND, "OPERATOR_NOT_FOUND", { operator_id: "opr_x" }],
        [Status.NOT_FOUND, "PROPOSAL_NOT_FOUND", { proposal_id: "prp_x" }],
        [Status.NOT_FOUND, "CELL_NOT_FOUND", { cells: "1" }],
      ]);
    });

    it("leave absent what there is not: no empty text", async () => {
      const organization_id = await create("Absent");
      const { response } = await admin.call(Rpcs.listJournal, { organization_id, own: true }, sam);
      const [act] = response?.entries ?? [];
      const absent = [act?.line?.note, act?.api_key_id, response?.next_page_token];
      expect(absent).to.deep.equal([undefined, undefined, undefined]);
    });

    it("are listed in pages, whose tokens are good for one list", async () => {
      const organization_id = await create("Pages");
      const note = "x";
      for (let count = 0; count < 3; count += 1) {
        await admin.call(Rpcs.suspendOrganization, { organization_id, note }, alice);
        await admin.call(Rpcs.resumeOrganization, { organization_id, note }, alice);
      }
      const rows = await pagesOf((page_token) =>
        admin.call(Rpcs.listJournal, { organization_id, own: true, page_size: 3, page_token }, sam),
      );
      const sequences = rows.map(({ entries }) => entries.map(({ line }) => Number(line?.sequence)));
      expect(sequences).to.deep.equal([[7, 6, 5], [4, 3, 2], [1]]);
      for (const { next_page_token: page_token = "" } of rows) {
        const other = await admin.call(Rpcs.listApiKeys, { organization_id, page_size: 3, page_token }, sam);
        expect(other.reason).to.equal(page_token === "" ? undefined : "INVALID_FIELD");
      }
      const pages = await pagesOf((page_token) =>
        admin.call(Rpcs.listOrganizations, { page_size: 2, page_token }, sam),
      );
      const names = pages.flatMap(({ organizations }) => organizations.map(({ name }) => name));
      expect(names).to.include.members(["Tenant", "Pages", "Book", "Race"]);
      expect(new Set(names).size).to.equal(names.length);
      for (const page_size of [0, 1_001]) {
        const { fields } = await admin.call(Rpcs.listOperators, { page_size }, sam);
        expect(fields?.map(({ field }) => field)).to.deep.equal(["page_size"]);
      }
    });

    it("on operators stand in a list of their own, and a name or a key belongs to one person for ever", async () => {
      const { key: carolsKey, sha256: key_sha256 } = newKey();
      const made = await admin.call(
        Rpcs.createOperator,
        { name: "Carol", roles: [Role.ROLE_VIEWER], key_sha256 },
        alice,
      );
      const operator_id = made.response?.operator?.id ?? "";
      expect((await admin.call(Rpcs.whoAmI, {}, { key: carolsKey })).response?.operator?.name).to.equal("Carol");
      const sameName = { name: "carol", roles: [Role.ROLE_VIEWER], key_sha256: newKey().sha256 };
      const sameKey = { name: "Caroline", roles: [Role.ROLE_VIEWER], key_sha256 };
      for (const request of [sameName, sameKey]) {
        const { reason, facts } = await admin.call(Rpcs.createOperator, request, alice);
        expect([reason, facts]).to.deep.equal(["OPERATOR_ALREADY_EXISTS", { operator_id }]);
      }
      const roles = { operator_id, roles: [Role.ROLE_FINANCE, Role.ROLE_VIEWER, Role.ROLE_VIEWER] };
      expect((await admin.call(Rpcs.setOperatorRoles, roles, alice)).response?.operator?.roles).to.deep.equal([
        Role.ROLE_VIEWER,
        Role.ROLE_FINANCE,
      ]);
      const old = { operator_id, key_sha256 };
      expect((await admin.call(Rpcs.replaceOperatorKey, old, alice)).replayed).to.equal(true);
      const fresh = { operator_id, key_sha256: newKey().sha256 };
      expect((await admin.call(Rpcs.replaceOperatorKey, fresh, alice)).replayed).to.equal(false);
      expect((await admin.call(Rpcs.replaceOperatorKey, old, alice)).reason).to.equal("OPERATOR_ALREADY_EXISTS");
      await admin.call(Rpcs.revokeOperator, { operator_id }, alice);
      expect((await admin.call(Rpcs.revokeOperator, { operator_id }, alice)).replayed).to.equal(true);
      expect((await admin.call(Rpcs.setOperatorRoles, roles, alice)).reason).to.equal("OPERATOR_REVOKED");
      const { response } = await admin.call(Rpcs.listOperatorActs, { page_size: 4 }, sam);
      expect(response?.acts.map(({ type, operator_names: names }) => `${type} ${names.join()}`)).to.deep.equal([
        "operator.revoked Alice",
        "operator.key_replaced Alice",
        "operator.roles_changed Alice",
        "operator.created Alice",
      ]);
    });
  });
}
