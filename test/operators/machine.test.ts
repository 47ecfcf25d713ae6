import { expect } from "chai";

import { ROWS } from "../../src/cli/administration/table.js";
import { readOperatorsContract } from "../../src/grpc/messages/contract.js";
import { openTestDatabase, type TestDatabase } from "../support/databases.js";
import { type Machine, machineOf } from "./given.js";

const rpcs = readOperatorsContract().services.flatMap((service) => service.rpcs);

describe("the AdminService in the process of the command", () => {
  let opened: TestDatabase;
  let machine: Machine;
  before(async () => {
    opened = await openTestDatabase("sqlite");
    machine = machineOf(opened, { submit: () => Promise.reject(new Error("no rpc of this test commits")) });
  });
  after(() => opened.dispose());

  const run = async (localName: string, bytes = Buffer.of()) => {
    const rpc = rpcs.find((each) => each.localName === localName);
    if (rpc === undefined) throw new Error(`no rpc ${localName}`);
    const messages = machine.call(rpc, { request: bytes });
    const first = await messages.next();
    return first.done === true ? { refusal: first.value } : { bytes: first.value, end: await messages.next() };
  };

  it("has a route for each rpc that a command of the table calls", () => {
    const called = new Set(ROWS.map(({ rpc }) => `${rpc.charAt(0).toLowerCase()}${rpc.slice(1)}`));
    const lacking = rpcs.flatMap(({ localName }) => (localName in machine.routes ? [] : [localName]));
    expect(lacking.filter((name) => called.has(name))).to.deep.equal([]);
  });

  for (const rpc of ["whoAmI", "approveProposal", "rejectProposal"]) {
    it(`refuses ${rpc}, for which it takes a person`, async () => {
      // A text in the field 1: the id of the proposal.
      const bytes = rpc === "whoAmI" ? Buffer.of() : Buffer.from("\x0a\x05prp_1");
      expect(await run(rpc, bytes)).to.deep.equal({ refusal: { reason: "MISSING_OPERATOR_KEY" } });
    });
  }

  it("names each bad field, as at a server, and bytes that are no message", async () => {
    const empty = await run("createOrganization");
    expect(empty).to.have.nested.include({ "refusal.reason": "INVALID_FIELD", "refusal.fields[0].field": "name" });
    const garbage = await run("createOrganization", Buffer.of(0xff));
    expect(garbage).to.have.nested.include({ "refusal.reason": "INVALID_FIELD", "refusal.fields[0].field": "request" });
  });

  it("returns the encoded response", async () => {
    expect(await run("listOrganizations")).to.deep.equal({
      bytes: Buffer.of(),
      end: { value: undefined, done: true },
    });
  });
});
