import type { DescMessage } from "@bufbuild/protobuf";
import { expect } from "chai";

import { AdminContract } from "../../../src/cli/administration/contract.js";
import { isList, isStream, keyOf, onlyReads, type Row } from "../../../src/cli/administration/row.js";
import { ROWS } from "../../../src/cli/administration/table.js";

// The table of commands speaks of the contract in texts, which no compiler compares with it.

const contract = new AdminContract();

const namesIn = ({ fields }: DescMessage): readonly string[] => fields.map(({ name }) => name);

/** The message of a field of a response, or of each item of a list. */
function messageIn(desc: DescMessage, name: string): DescMessage {
  const message = desc.fields.find((field) => field.name === name)?.message;
  if (message === undefined) throw new Error(`${desc.typeName} has no message ${name}`);
  return message;
}

/** The fields that a row's words and columns can show. */
function shownBy(row: Row): readonly string[] {
  const { method, isOfOrganizations } = contract.rpc(row.rpc);
  const { output } = method;
  if (isStream(row)) return namesIn(output);
  if (isList(row)) {
    const beside = Object.keys(row.each?.request({}).beside ?? {});
    const items = typeof row.items === "function" ? [] : [row.items].flat();
    // Items of several kinds have some fields in common.
    const own = [...new Set(items.flatMap((each) => namesIn(messageIn(output, each))))];
    // The id of an organization is the same in both.
    return [...own, ...beside.filter((name) => name !== "organization_id" || !own.includes(name))];
  }
  // An rpc of organizations tells it beside its response.
  const told = isOfOrganizations && !onlyReads(row) ? ["unchanged", "proposal"] : [];
  const beside = [...namesIn(output).filter((name) => name !== row.shows), ...told];
  return row.shows === undefined ? beside : [...namesIn(messageIn(output, row.shows)), ...beside];
}

/** The fields that a row names in its words and its columns. */
function namedBy(row: Row): readonly string[] {
  if (isStream(row)) return Object.keys(row.parts);
  if (isList(row)) {
    const columns = typeof row.items === "function" ? [] : Object.values(row.columns);
    return columns.filter((column) => typeof column === "string");
  }
  const words = [row.done, row.unchanged, row.proposed, row.adviceOnLoss].filter((each) => typeof each === "string");
  return words.flatMap((text) => [...text.matchAll(/\{([a-z_]+)\}/g)].map(([, name = ""]) => name));
}

describe("the commands that call the AdminService", () => {
  it("reach each rpc but GetOrganization, and those of a console", () => {
    const rpcs = [...contract.rpcs.values()];
    const names = rpcs
      .filter((rpc) => !rpc.isOfOrganizations || rpc.effect !== "reads")
      .map(({ method }) => method.name);
    const called = new Set(ROWS.map(({ rpc }) => rpc));
    expect(names.filter((name) => !called.has(name))).to.have.members([
      // It finds the organization that a command names.
      "GetOrganization",
      // A browser has the passkey.
      "BeginPasskey",
      "GetSignInToken",
      "CreateSession",
      "VerifySession",
      "RegisterPasskey",
    ]);
  });

  it("repeat a lost call only where the contract says that a repeat changes nothing", () => {
    const acting = [...contract.rpcs.values()].flatMap((rpc) => (rpc.effect === "acts" ? rpc.method.name : []));
    expect(acting).to.have.members([
      "CreateOrganization",
      "CreateApiKey",
      "SetRailAccount",
      "CreateOperator",
      "ApproveProposal",
      "RejectProposal",
      "CreateSession",
      "VerifySession",
      "CreateInvitation",
      "FreezeAccount",
      "RevealAccount",
      "RegisterPasskey",
      "CreateSignInCode",
    ]);
  });

  for (const row of ROWS) {
    it(`fits to the contract: kesc ${row.path}`, () => {
      const { method, effect, isOfOrganizations } = contract.rpc(row.rpc);
      const { input } = method;
      const parameters = row.parameters ?? [];
      const fields = parameters.flatMap(({ field }) => field ?? []);
      const named = isOfOrganizations ? [...namesIn(input), "organization_id"] : namesIn(input);
      expect(named, "fields of the request").to.include.members(fields);
      expect(new Set(parameters.map(keyOf)).size, "names of parameters").to.equal(parameters.length);
      expect(parameters.filter(({ refersTo }) => refersTo !== undefined)).to.have.length.at.most(1);
      expect(shownBy(row), "fields of the response").to.include.members([...namedBy(row)]);
      expect(new Set(shownBy(row)).size, "no field hides another").to.equal(shownBy(row).length);
      expect(onlyReads(row), "whether it only reads").to.equal(effect === "reads");
      expect(isStream(row), "whether it streams").to.equal(method.methodKind === "server_streaming");
      if (isList(row) && row.each !== undefined) {
        expect(named, "fields from another list").to.include.members(Object.keys(row.each.request({}).fields));
        messageIn(contract.rpc(row.each.rpc).method.output, row.each.items);
      }
    });
  }
});
