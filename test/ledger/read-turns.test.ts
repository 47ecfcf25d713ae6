import { expect } from "chai";

import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { readsInTurns } from "../../src/ledger/read-turns.js";
import { emptyReads } from "../support/service/grpc-server.js";

const GREEDY = "org_greedy" as OrganizationId;
const MODEST = "org_modest" as OrganizationId;
const ID = "acc_1" as AccountId;

/** Reads that the test ends one by one, oldest first. */
function givenReads() {
  const begun: OrganizationId[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const reads = readsInTurns(
    {
      ...emptyReads,
      account: (organizationId) =>
        new Promise((resolve, reject) => {
          begun.push(organizationId);
          ends.push((error) => {
            if (error === undefined) resolve(undefined);
            else reject(error);
          });
        }),
    },
    2,
  );
  const endNext = async (error?: Error): Promise<void> => {
    ends.shift()?.(error);
    await new Promise(setImmediate);
  };
  return { begun, reads, endNext };
}

describe("ledger: the turns of reads by id", () => {
  it("let few begin at a time, and organizations in turn", async () => {
    const { begun, reads, endNext } = givenReads();
    for (let count = 0; count < 10; count += 1) void reads.account(GREEDY, ID);
    void reads.account(MODEST, ID);
    expect(begun).to.deep.equal([GREEDY, GREEDY]);
    await endNext();
    await endNext();
    expect(begun.slice(2)).to.deep.equal([GREEDY, MODEST]);
  });

  it("fail all waiting reads when the database fails, and begin again", async () => {
    const { begun, reads, endNext } = givenReads();
    const all = Array.from({ length: 10 }, () => reads.account(GREEDY, ID));
    const settled = Promise.allSettled(all);
    await endNext(new StoreError("unavailable", undefined));
    await endNext();
    const statuses = (await settled).map(({ status }) => status);
    expect(statuses.filter((status) => status === "rejected")).to.have.length(9);
    void reads.account(MODEST, ID);
    expect(begun.at(-1)).to.equal(MODEST);
  });

  it("fail one read alone when it fails for a reason of its own", async () => {
    const { begun, reads, endNext } = givenReads();
    const all = Promise.allSettled(Array.from({ length: 3 }, () => reads.account(GREEDY, ID)));
    await endNext(new Error("a bug"));
    expect(begun).to.have.length(3);
    await endNext();
    await endNext();
    expect((await all).map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled", "fulfilled"]);
  });
});
