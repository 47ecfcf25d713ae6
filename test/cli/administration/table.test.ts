import { type DescExtension, type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { expect } from "chai";

import { AdminContract } from "../../../src/cli/administration/contract.js";
import { isList, isStream, keyOf, nameOf, onlyReads, type Row } from "../../../src/cli/administration/row.js";
import { ROWS } from "../../../src/cli/administration/table.js";
import { readContract } from "../../../src/grpc/messages/contract.js";

// The table of commands speaks of the contract in texts, which no compiler compares with it.

const contract = new AdminContract();

const FIELD_BEHAVIOR = readContract().files.getExtension("google.api.field_behavior") as DescExtension;
const REQUIRED = 2;

const isRequired = (field: DescField): boolean => (getOption(field, FIELD_BEHAVIOR) as number[]).includes(REQUIRED);

const namesIn = ({ fields }: DescMessage): readonly string[] => fields.map(({ name }) => name);

/** The message of a field of a response, or of each item of a list. */
function messageIn(desc: DescMessage, name: string): DescMessage {
  const message = desc.fields.find((field) => field.name === name)?.message;
  if (message === undefined) throw new Error(`${desc.typeName} has no message ${name}`);
  return message;
}

/** The fields that a row's words and columns can show. */
function shownBy(row: Row): readonly string[] {
  const { method, canReplay, secondPerson } = contract.rpc(row.rpc);
  const { output } = method;
  if (isStream(row)) return namesIn(output);
  if (isList(row)) {
    const beside = Object.keys(row.each?.request({}).beside ?? {});
    const { items = contract.itemsOf(row.rpc) } = row;
    const names = typeof items === "function" ? [] : items;
    // Items of several kinds have some fields in common.
    const own = [...new Set(names.flatMap((each) => namesIn(messageIn(output, each))))];
    // The id of an organization is the same in both.
    return [...own, ...beside.filter((name) => name !== "organization_id" || !own.includes(name))];
  }
  const told = [...(canReplay ? ["unchanged"] : []), ...(secondPerson ? ["proposal"] : [])];
  const shows = row.shows === undefined ? contract.resourceOf(row.rpc) : row.shows;
  const beside = [...namesIn(output).filter((name) => name !== shows), ...told];
  return shows === null ? beside : [...namesIn(messageIn(output, shows)), ...beside];
}

/** The fields and the parameters that a row names in its words and its columns. */
function namedBy(row: Row): readonly string[] {
  if (isStream(row)) return Object.keys(row.parts);
  if (isList(row)) {
    const columns = typeof row.items === "function" ? [] : Object.values(row.columns);
    return columns.filter((column) => typeof column === "string");
  }
  const { intent, done, unchanged, proposed, adviceOnLoss } = row;
  const words = [intent, done, unchanged, proposed, adviceOnLoss].filter((each) => typeof each === "string");
  return words.flatMap((text) => [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name));
}

describe("the commands that call the AdminService", () => {
  it("reach each rpc but GetOrganization, the comparison, and those of a console", () => {
    const rpcs = [...contract.rpcs.values()];
    const names = rpcs
      .filter((rpc) => !rpc.path.startsWith("/kesc.v1.") || rpc.effect !== "reads")
      .map(({ method }) => method.name);
    const called = new Set(ROWS.map(({ rpc }) => rpc));
    expect(names.filter((name) => !called.has(name))).to.have.members([
      // It finds the organization that a command names.
      "GetOrganization",
      // The command compares by itself: it takes larger files, and the rail's own list.
      "ReconcileStatement",
      // `kesc close` calls both with several files.
      "CloseMonth",
      "ExportMonth",
      // `kesc payouts` sends a file, and writes one.
      "PayFile",
      "SetPayoutList",
      "ListPayoutRows",
      // `kesc bank-file` writes what it returns into a file.
      "DownloadBankFile",
      // `kesc reconcile` calls both with what a statement has.
      "RecordDeposits",
      "ResolveTransactions",
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
      "CollectBankFile",
      "DownloadBankFile",
      "RegisterPasskey",
      "CreateSignInCode",
      "SendTestEvent",
      "ResendWebhookDelivery",
      "ReplayWebhookEvents",
      "TestPayoutCheck",
    ]);
  });

  for (const row of ROWS) {
    it(`fits to the contract: kesc ${row.path}`, () => {
      const { method, effect, isOfOrganization } = contract.rpc(row.rpc);
      const { input } = method;
      const parameters = row.parameters ?? [];
      const fields = parameters.flatMap(({ field }) => field ?? []);
      const known = isOfOrganization ? [...namesIn(input), "organization_id"] : namesIn(input);
      expect(known, "fields of the request").to.include.members(fields);
      expect(new Set(parameters.map(keyOf)).size, "names of parameters").to.equal(parameters.length);
      expect(parameters.filter(({ refersTo }) => refersTo !== undefined)).to.have.length.at.most(1);
      const named = [...shownBy(row), ...parameters.map(nameOf)];
      expect(named, "fields of the response").to.include.members([...namedBy(row)]);
      expect(new Set(shownBy(row)).size, "no field hides another").to.equal(shownBy(row).length);
      expect(onlyReads(row), "whether it only reads").to.equal(effect === "reads");
      expect(isStream(row), "whether it streams").to.equal(method.methodKind === "server_streaming");
      if (isList(row) && row.each !== undefined) {
        expect(known, "fields from another list").to.include.members(Object.keys(row.each.request({}).fields));
        messageIn(contract.rpc(row.each.rpc).method.output, row.each.items);
      }
    });

    it(`says what the contract says of its fields: kesc ${row.path}`, () => {
      const { method, operatorsGive } = contract.rpc(row.rpc);
      const ofRequest = new Map(method.input.fields.map((field) => [field.name, field]));
      const required = [...ofRequest.values()].filter(
        (field) => isRequired(field) || operatorsGive.includes(field.name),
      );
      const given = (row.parameters ?? []).filter(({ field }) => ofRequest.has(field ?? ""));
      const always = given.filter((parameter) => parameter.required === true).map(({ field = "" }) => field);
      // A list of calls, and a request that the row makes, fill what was not given.
      const fills = "each" in row || "request" in row;
      if (!fills) expect(always, "fields that must be given").to.include.members(required.map(({ name }) => name));
      const options = given.filter(({ flags }) => flags.startsWith("--")).map(({ field = "" }) => field);
      const needless = options.filter(
        (name) => always.includes(name) && !required.some((field) => field.name === name),
      );
      expect(needless, "fields that may be left out").to.deep.equal([]);
      for (const { field = "", help } of given) {
        const values = ofRequest
          .get(field)
          ?.enum?.values.slice(1)
          .map(({ localName }) => localName.toLowerCase());
        expect(values?.filter((value) => !help.includes(value)) ?? [], `values of ${field}`).to.deep.equal([]);
      }
    });
  }
});
