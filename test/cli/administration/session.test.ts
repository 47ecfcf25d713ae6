import { expect } from "chai";

import type { CarriedCall } from "../../../src/cli/administration/carrier.js";
import { AdminContract } from "../../../src/cli/administration/contract.js";
import type { MessageJson } from "../../../src/cli/administration/row.js";
import { AdminSession } from "../../../src/cli/administration/session.js";
import { CreateApiKeyRequest } from "../../../src/gen/kesc/admin/v1/admin_service.js";

const KEY = { organization_id: "org_1", name: "till", scopes: ["accounts:read"] };

describe("a call to the AdminService", () => {
  /** Makes a call, and returns the bytes that would have gone to the network. */
  async function sentBy(rpc: string, fields: MessageJson): Promise<readonly Buffer[]> {
    const sent: Buffer[] = [];
    const carrier = {
      isAtServer: true,
      async *carry({ request }: CarriedCall): AsyncGenerator<Uint8Array> {
        await Promise.resolve();
        sent.push(request);
        yield new Uint8Array();
      },
    };
    try {
      await new AdminSession(carrier).call(rpc, fields);
    } catch (error) {
      expect(error).to.have.property("exitCode", 2);
      expect(sent, "sent").to.deep.equal([]);
      throw error;
    }
    return sent;
  }

  for (const [what, rpc, fields, words] of [
    ["a misspelt field", "CreateApiKey", { ...KEY, scope: "accounts:read" }, "scope is not a field of this request"],
    [
      "an unknown value",
      "CreateOperator",
      { name: "Ann", roles: ["boss"] },
      "roles[0] must be one of viewer, support, finance, approver, admin",
    ],
    ["an object in place of a text", "CreateApiKey", { ...KEY, name: { till: 1 } }, "name must be a string"],
    ["a number in place of a text", "CreateApiKey", { ...KEY, name: 5 }, "name must be a string"],
    [
      "a time that is not of RFC 3339",
      "CreateApiKey",
      { ...KEY, expires_at: "tomorrow" },
      "expires_at must be an RFC 3339 time",
    ],
  ] as const) {
    it(`is not sent with ${what}`, async () => {
      const refusal = await sentBy(rpc, fields).then(
        () => "it was sent",
        (error: unknown) => (error as Error).message,
      );
      expect(refusal).to.contain(`The request is invalid. Nothing was sent.\n  ${words}`);
    });
  }

  it("has a time of RFC 3339 as the message has it", async () => {
    const [request = Buffer.of()] = await sentBy("CreateApiKey", { ...KEY, expires_at: "2027-01-31T12:00:00+03:00" });
    const seconds = BigInt(Date.parse("2027-01-31T09:00:00Z") / 1_000);
    expect(CreateApiKeyRequest.decode(request).expires_at).to.deep.equal({ seconds, nanos: 0 });
  });

  it("gives each field of a response", () => {
    expect(new AdminContract().decode("RevokeApiKey", new Uint8Array())).to.deep.equal({ api_key: null });
  });
});
