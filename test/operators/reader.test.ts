import type { DescMessage } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { ROLES } from "../../src/domain/operator.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { ServerReflectionService } from "../../src/gen/grpc/reflection/v1/reflection.js";
import { HealthService } from "../../src/gen/health/v1/health.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { isRead, readContract, readOperatorsAddress } from "../../src/grpc/messages/contract.js";
import { masked, MASKS } from "../../src/grpc/messages/masked.js";
import type { GrpcCaller, GrpcOptions, Method } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE } from "../support/databases.js";
import { createAccount } from "../support/operations/accounts.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const UNKNOWN_ORG = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";

/** What operators may read of an organization. A new rpc that reads needs a line here. */
const READS = [
  ...["GetAccount", "ListAccounts", "ListFreezes", "GetDestination", "ListDestinations", "GetLimits"],
  ...["GetTransaction", "ListTransactions", "GetPayment", "GetDeposit", "ListDeposits", "GetDepositInstructions"],
  ...["GetSupply", "GetStatement", "GetCheckpoint", "GetInclusionProof", "GetConsistencyProof", "ListEvents"],
  ...["GetWebhookEndpoint", "ListWebhookEndpoints", "ListWebhookDeliveries", "ListUndeliveredEvents"],
];

const served = readOperatorsAddress().services.filter(({ name }) => name.startsWith("kesc.v1."));
const paths = served.flatMap(({ rpcs }) => rpcs.filter(isRead).map(({ path }) => path));
const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
/** An rpc with a request that has no fields. */
const bare = (path: string): Method<object, Buffer> => ({
  path,
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: (bytes) => bytes,
});

describe("what operators read of organizations", () => {
  it("is each unary rpc whose scope reads, and no other", () => {
    expect(paths.map(nameOf)).to.have.members(READS);
    const reading = readContract().services.flatMap(({ rpcs }) =>
      rpcs.filter(({ requiredScope: scope = "", streams }) => scope.endsWith(":read") && streams === "none"),
    );
    expect(paths).to.have.members(reading.map(({ path }) => path));
  });

  it("has a mask for each field that may hold a whole phone number or e-mail address", () => {
    const named = new Set<string>();
    const seen = new Set<string>();
    const walk = ({ typeName, fields }: DescMessage): void => {
      if (seen.has(typeName)) return;
      seen.add(typeName);
      for (const field of fields) {
        if (field.message !== undefined) walk(field.message);
        else if (/phone|email|typed|msisdn|rail_reference|^body$/.test(field.name) && field.fieldKind === "scalar")
          named.add(field.name);
      }
    };
    const methods = [...readContract().files.files].flatMap(({ services }) => services.flatMap((each) => each.methods));
    for (const method of methods) if (paths.some((path) => path.endsWith(`/${method.name}`))) walk(method.output);
    const whole = [...named].filter((name) => !name.startsWith("masked_"));
    expect(whole).to.have.members(Object.keys(MASKS));
  });

  for (const [given, expected] of [
    [{ phone_number: "+254712345678" }, { phone_number: "+254******678" }],
    [{ phone_number: "+4915123456789" }, { phone_number: "+491*******789" }],
    [{ phone_number: "odd" }, { phone_number: "***" }],
    [{ email: "amina@example.com" }, { email: "a***@example.com" }],
    [{ email: "@x" }, { email: "**" }],
    [{ typed_reference: "0712 345-678" }, { typed_reference: "254******678" }],
    [{ typed_reference: "rent of 0712345678, flat 4" }, { typed_reference: "rent of 254******678, flat 4" }],
    [{ rail_reference: "ws_CO_070120241400135712345678" }, { rail_reference: "ws_CO_070120241400135******678" }],
    [
      { body: '{"CheckoutRequestID":"ws_CO_0701202412345678"}' },
      { body: '{"CheckoutRequestID":"ws_CO_0701202******678"}' },
    ],
    [{ typed_reference: "20000017" }, { typed_reference: "20000017" }],
    [{ typed_reference: "rent a@b.ke" }, { typed_reference: "r***@b.ke" }],
    [{ list: [{ email: "a@b.ke", other: undefined }] }, { list: [{ email: "a***@b.ke", other: undefined }] }],
    [
      { bytes: Buffer.from("x"), of: new Map([["email", "e"]]) },
      { bytes: Buffer.from("x"), of: new Map([["email", "e"]]) },
    ],
  ] as const) {
    it(`shows ${JSON.stringify(given)} as ${JSON.stringify(expected)}`, () => {
      expect(masked<unknown>(given)).to.deep.equal(expected);
    });
  }
});

for (const engine of ENGINES_OF_STAGE) {
  describe(`operators read what an organization reads (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let vera: GivenOperator;
    let organizationId: OrganizationId;
    let accountId = "";
    let depositId = "";

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      vera = await service.operator("Vera", "viewer");
      ({ organizationId } = service.tenant);
      const account = createAccount(organizationId, "amina");
      const deposit = receiveDeposit(organizationId, { receipt: "SKQ7XH2M4P", typed: "0712345678" });
      await service.opened.cell.committer.commit([account, deposit], toUnixMillis(Date.now()));
      accountId = account.newAccountId;
      depositId = deposit.newDepositId;
    });
    after(() => service.dispose());

    const own = (id: string = organizationId): Pick<GrpcOptions, "metadata"> => ({
      metadata: { "kesc-organization": id },
    });
    const reasonsOf = async (options: GrpcOptions): Promise<readonly string[]> => {
      const replies = await Promise.all(paths.map((path) => admin.call(bare(path), {}, options)));
      return [
        ...new Set(
          replies.map(({ reason, fields }) => `${reason ?? ""} ${fields?.map(({ field }) => field).join() ?? ""}`),
        ),
      ];
    };

    it("not without a key, nor with another kind of key", async () => {
      expect(await reasonsOf({ key: "", ...own() })).to.deep.equal(["MISSING_OPERATOR_KEY "]);
      expect(await reasonsOf({ key: service.tenant.key, ...own() })).to.deep.equal(["INVALID_OPERATOR_KEY "]);
    });

    it("not without an organization, nor with one that is unknown or has no form", async () => {
      const { key } = vera;
      expect(await reasonsOf({ key })).to.deep.equal(["INVALID_FIELD kesc-organization"]);
      expect(await reasonsOf({ key, ...own(" x") })).to.deep.equal(["INVALID_FIELD kesc-organization"]);
      expect(await reasonsOf({ key, ...own(UNKNOWN_ORG) })).to.deep.equal(["ORGANIZATION_NOT_FOUND "]);
    });

    it("with each role, all of them", async () => {
      for (const role of ROLES) {
        const { key } = await service.operator(`The ${role}`, role);
        for (const path of paths) {
          const { code, fields, reason, message } = await admin.call(bare(path), {}, { key, ...own() });
          const known = ["CHECKPOINT_NOT_FOUND", "INVALID_FIELD", undefined];
          expect(known, `${path}: ${message}`).to.include(reason);
          expect(fields?.map(({ field }) => field) ?? [], path).not.to.include("kesc-organization");
          expect([Status.OK, Status.INVALID_ARGUMENT, Status.NOT_FOUND], path).to.include(code);
        }
      }
    });

    it("and nothing else of its services", async () => {
      const rest = readContract().services.flatMap(({ rpcs }) => rpcs.map(({ path }) => path));
      const acts = served.flatMap(({ rpcs }) => rpcs.map(({ path }) => path));
      for (const path of rest.filter((each) => !acts.includes(each))) {
        const { reason } = await admin.call(bare(path), {}, { key: vera.key, ...own() });
        expect(reason, path).to.equal("NO_SUCH_RPC");
      }
    });

    it("the same resources, with personal data masked", async () => {
      const calls = [
        ["GetAccount", { account_id: accountId }],
        ["ListAccounts", { user_id: "amina" }],
        ["GetDeposit", { deposit_id: depositId }],
        ["ListDeposits", {}],
        ["ListTransactions", {}],
        ["ListEvents", {}],
      ] as const;
      for (const [rpc, request] of calls) {
        const seen = await admin.call(rpc, request, { key: vera.key, ...own() });
        const whole = await service.publicly.call(rpc, request, { key: service.tenant.key });
        expect(seen.code, seen.message).to.equal(Status.OK);
        const hidden = JSON.stringify(whole.response)
          .replaceAll("+254712345678", "+254******678")
          .replaceAll("0712345678", "254******678");
        expect(JSON.parse(JSON.stringify(seen.response)), rpc).to.deep.equal(JSON.parse(hidden));
      }
      const { response } = await admin.call("GetAccount", { account_id: accountId }, { key: vera.key, ...own() });
      expect(response).to.have.nested.property("account.phone_number", "+254******678");
    });

    it("without looking for a phone number or an e-mail address", async () => {
      const request = { phone_number: "0712345678", email: "amina@example.com" };
      const { fields } = await admin.call("ListAccounts", request, { key: vera.key, ...own() });
      expect(fields?.map(({ field, code }) => [field, code])).to.deep.equal([
        ["phone_number", "CONFLICT"],
        ["email", "CONFLICT"],
      ]);
    });

    it("masked in the AdminService, too", async () => {
      const { response } = await admin.call(Rpcs.listNeedsAttention, { organization_id: organizationId }, vera);
      expect(response?.deposits[0]?.typed_reference).to.equal("254******678");
    });

    it("of the organization that the metadata names alone", async () => {
      const other = await service.stored.createOrganization({ name: "Other", isSandbox: false }, undefined);
      const id = other.kind === "done" ? other.resource.id : "";
      const { reason } = await admin.call("GetAccount", { account_id: accountId }, { key: vera.key, ...own(id) });
      expect(reason).to.equal("ACCOUNT_NOT_FOUND");
      const { response } = await admin.call("ListAccounts", {}, { key: vera.key, ...own(id) });
      expect(response).to.have.property("accounts").with.lengthOf(0);
    });

    it("and find the services by reflection and by the health check", async () => {
      const { serverReflectionInfo: method } = ServerReflectionService;
      const stream = admin.open(method, {});
      stream.send({ host: "", message_request: { $case: "list_services", value: "*" } });
      stream.end();
      await stream.ended;
      const [answer] = stream.responses;
      const listed =
        answer?.message_response?.$case === "list_services_response" ? answer.message_response.value : undefined;
      const names = ["kesc.admin.v1.AdminService", ...served.map(({ name }) => name)];
      expect(listed?.service.map(({ name }) => name)).to.include.members(names);
      for (const name of names) {
        expect((await admin.call(HealthService.check, { service: name }, {})).code, name).to.equal(Status.OK);
      }
    });

    it("with the operator in the log, and no number", () => {
      const lines = service.lines.filter((line) => line.includes("AccountService/GetAccount"));
      expect(lines.join("")).to.contain(`"operator_id":"${vera.operator.id}"`).and.not.to.contain("712345678");
    });
  });
}
