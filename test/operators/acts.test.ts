import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { onlyReads, type Row } from "../../src/cli/administration/row.js";
import { ROWS } from "../../src/cli/administration/table.js";
import type { Organization } from "../../src/domain/api-key.js";
import type { OperatorCommand } from "../../src/domain/operations.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { Role } from "../../src/gen/kesc/admin/v1/resources.js";
import { SessionServiceService as Sessions } from "../../src/gen/kesc/admin/v1/session_service.js";
import { submitAct } from "../../src/grpc/services/acts.js";
import type { HandlersOptions } from "../../src/grpc/services/operator-options.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES } from "../support/databases.js";
import { createAccount } from "../support/operations/accounts.js";
import { type Ended, kesc } from "../support/service/kesc.js";
import { type GivenOperator, newKey, type OperatorService, pagesOf, startOperatorService, textOf } from "./given.js";

const UNKNOWN_ORG = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";

/** The examples that a server does not do, that need files, or that ask another machine. */
const NOT_AT_SERVER = /--certificate|--on-database|^operator create (?!.*--invite)|--credentials |^payouts test-check /;

const NOBODY_LISTENS = "http://127.0.0.1:1/hooks";

/** The words of a command line. A quoted text is one word. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = ""]) => quoted ?? word);
}

for (const engine of ENGINES) {
  describe(`the acts of operators (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let alice: GivenOperator;
    let sam: GivenOperator;

    before(async () => {
      service = await startOperatorService(engine, {
        environment: { KESC_FOUR_EYES: "none", KESC_WEBHOOKS_ALLOW: "127.0.0.1" },
      });
      [admin] = service.admin;
      alice = await service.operator("Alice", "admin");
      sam = await service.operator("Sam", "support");
    });
    after(() => service.dispose());

    /** Runs a command as the operator, at the server. */
    const kescAs = ({ key }: GivenOperator, ...args: string[]): Promise<Ended> =>
      kesc(args, { KESC_OPERATOR_SERVER: service.servers[0].operatorAddress ?? "", KESC_OPERATOR_KEY: key });
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

    // When the service ends, the audit knows what each of them wrote.
    it("do what the examples of each act say, unless what they name is not there", async () => {
      const { stdout } = await kescAs(alice, "org", "create", "--name", "Acme", "--json");
      const { id } = JSON.parse(stdout) as { readonly id: OrganizationId };
      const account = createAccount(id, "brian", { newAccountId: "acc_01jd2r6p5vf8ksw3xhb1z7q4ye" as AccountId });
      await service.opened.cell.committer.commit([account], toUnixMillis(Date.now()));
      // What an act with --yes ends, or another one removes, the examples of others need.
      const isLast = (row: Row): number => Number("intent" in row || row.path.endsWith(" remove"));
      const acts = ROWS.filter((row) => !onlyReads(row)).toSorted((row, other) => isLast(row) - isLast(other));
      const refused: string[] = [];
      for (const { path, examples = [""] } of acts) {
        for (const example of examples.filter((given) => !NOT_AT_SERVER.test(`${path} ${given}`))) {
          const { code, stderr } = await kescAs(alice, ...path.split(" "), ...wordsOf(example));
          if (code !== 0) refused.push(`${path}: ${stderr.trim()}`);
        }
      }
      const NOT_THERE =
        /: There is no |: No file with |: Nobody has |was not found|has no account at the rail|has the name already|frozen|has 0\.00/;
      expect(refused.filter((line) => !NOT_THERE.test(line))).to.deep.equal([]);
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
      const key = { name: " ", scopes: ["all"], expires_at: { seconds: 1n, nanos: 0 }, never_expires: false };
      const fieldsOf = async (organization: string | undefined) => {
        const of = organization === undefined ? {} : { organization };
        const { reason, fields } = await admin.call(Rpcs.createApiKey, key, { ...alice, ...of });
        return [reason, fields?.map(({ field, code }) => `${field} ${code}`)];
      };
      for (const unnamed of [undefined, ""])
        expect(await fieldsOf(unnamed)).to.deep.equal(["INVALID_FIELD", ["kesc-organization REQUIRED"]]);
      const [, bad] = await fieldsOf(await create("Bad keys"));
      expect(bad).to.deep.equal(["name REQUIRED", "scopes UNKNOWN_VALUE", "expires_at OUT_OF_RANGE"]);
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
      const sameKey = { name: "Caroline", roles: [Role.ROLE_VIEWER], key_sha256 };
      // A Cyrillic letter, an accent, a digit, and a space that nobody sees.
      for (const name of ["carol", "\u0421arol", "Caro\u0301l", "Caro1", "Ca\uFE0Frol"]) {
        const request = { name, roles: [Role.ROLE_VIEWER] };
        const invited = await admin.call(Sessions.createInvitation, request, alice);
        expect([invited.reason, invited.facts], name).to.deep.equal(["OPERATOR_ALREADY_EXISTS", { operator_id }]);
        const sameName = { ...request, key_sha256: newKey().sha256 };
        const { reason, facts } = await admin.call(Rpcs.createOperator, sameName, alice);
        expect([reason, facts], name).to.deep.equal(["OPERATOR_ALREADY_EXISTS", { operator_id }]);
      }
      const { reason, facts } = await admin.call(Rpcs.createOperator, sameKey, alice);
      expect([reason, facts]).to.deep.equal(["OPERATOR_ALREADY_EXISTS", { operator_id }]);
      const spaced = await admin.call(Rpcs.createOperator, { ...sameKey, name: "Caroline " }, alice);
      expect(spaced.fields?.map(({ field }) => field)).to.deep.equal(["name"]);
      for (const name of ["p1 ", " p1", "p1\u3000"]) {
        const key = { organization_id: service.tenant.organizationId, name, scopes: ["accounts:read"] };
        const { fields } = await admin.call(Rpcs.createApiKey, { ...key, never_expires: true }, alice);
        expect(
          fields?.map(({ field }) => field),
          name,
        ).to.deep.equal(["name"]);
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
      const ofCarol = await admin.call(Rpcs.listOperatorActs, { operator_id, type: "operator.roles_changed" }, sam);
      expect(ofCarol.response?.acts.map(({ type }) => type)).to.deep.equal(["operator.roles_changed"]);
      const byAlice = await admin.call(Rpcs.listOperatorActs, { operator_id: alice.operator.id }, sam);
      const subjects = new Set(byAlice.response?.acts.map((act) => act.operator_id));
      expect([...subjects]).to.have.members([operator_id, alice.operator.id]);
      const nobody = await admin.call(Rpcs.listOperatorActs, { operator_id: "opr_%" }, sam);
      expect(nobody.response?.acts).to.deep.equal([]);
    });

    it("set the status of an endpoint and send its events again, and never set its address", async () => {
      const { key, organizationId } = service.tenant;
      const created = await service.publicly.call("CreateWebhookEndpoint", { url: NOBODY_LISTENS }, { key });
      const webhook_endpoint_id = (created.response["webhook_endpoint"] as { id: string }).id;
      const metadata = { "kesc-organization": organizationId };
      const change = (request: object) =>
        admin.call("UpdateWebhookEndpoint", { webhook_endpoint_id, types: [], ...request }, { ...sam, metadata });
      const status = "WEBHOOK_ENDPOINT_STATUS_PAUSED";
      for (const [field, value] of [
        ["url", "https://elsewhere.example.com"],
        ["types", ["account.*"]],
        ["description", ""],
      ] as const) {
        const { reason, fields } = await change({ status, [field]: value });
        expect([reason, fields?.map((each) => each.field)], field).to.deep.equal(["INVALID_FIELD", [field]]);
      }
      expect((await change({ status })).response["webhook_endpoint"]).to.include({ status, url: NOBODY_LISTENS });
      expect((await change({ status })).replayed).to.equal(true);
      expect(await actsOf(organizationId)).to.include(`webhook_endpoint.updated ${sam.operator.id} Sam`);
      await admin.call(Rpcs.suspendOrganization, { organization_id: organizationId, note: "case 18" }, sam);
      const again = { webhook_endpoint_id, sequence: 1n };
      expect((await service.publicly.call("ResendWebhookDelivery", again, { key })).reason).to.equal(
        "ORGANIZATION_SUSPENDED",
      );
      expect((await admin.call("ResendWebhookDelivery", again, { ...sam, metadata })).code).to.equal(0);
      await admin.call(Rpcs.resumeOrganization, { organization_id: organizationId, note: "case 18" }, alice);
    });
  });
}

describe("a dry run of an act", () => {
  it("takes no room in the queue of operators", async () => {
    const queues: unknown[] = [];
    const ledger = {
      submit: (_command: unknown, _deadline: unknown, { operator }: { readonly operator: boolean }) => {
        queues.push(operator);
        return Promise.resolve({});
      },
    };
    const options = { cellOf: () => ({ ledger }) } as unknown as HandlersOptions;
    for (const dryRun of [false, true]) {
      const command = { name: "freezeAccount", dryRun } as unknown as OperatorCommand;
      const organization = {} as Organization;
      await submitAct(options, command, { organization, deadline: toUnixMillis(0), trace: undefined });
    }
    expect(queues).to.deep.equal([true, false]);
  });
});
