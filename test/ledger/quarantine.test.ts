import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { Ledger } from "../../src/ledger/ledger.js";
import type { CommandResult, Committer } from "../../src/ledger/ports/committer.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { REAL_TIMING } from "../../src/ledger/timing.js";
import { newAccountId, NO_DEADLINE } from "../support/names.js";
import { mint } from "../support/operations/transactions.js";

const HOSTILE = "org_hostile" as OrganizationId;
const OTHER = "org_other" as OrganizationId;
const POISON = "poison";
const REFUSED: CommandResult = { kind: "refused", refusal: { reason: "BOOK_MOVING" } };

type Submitted = ReturnType<Ledger["submit"]>;

/** A database that rejects each batch with a command whose reference begins with "poison". */
class Rejecting {
  readonly batches: (readonly Command[])[] = [];
  readonly rests: { readonly millis: number; readonly end: () => void }[] = [];
  /** A commit takes that long. */
  commitMillis = 2;
  nowMillis = 1_000_000;
  readonly ledger: Ledger;
  readonly #accountId: AccountId = newAccountId();
  #references = 0;

  constructor(batchesMax = 1) {
    const committer: Committer = {
      batchesMax,
      batchUsual: 64,
      commit: async (commands) => {
        this.batches.push(commands);
        await new Promise(setImmediate);
        this.nowMillis += this.commitMillis;
        if (commands.some((command) => "reference" in command && command.reference.startsWith(POISON))) {
          throw new StoreError("rejected", new Error("check constraint"));
        }
        return commands.map(() => REFUSED);
      },
    };
    this.ledger = new Ledger({
      committer,
      now: () => toUnixMillis(this.nowMillis),
      batchMax: 128,
      queueMax: 1_000,
      onStoreError: () => undefined,
      timing: {
        ...REAL_TIMING,
        rest: (millis) =>
          new Promise<void>((resolve) => {
            this.rests.push({ millis, end: resolve });
          }),
      },
    });
  }

  submit(organizationId: OrganizationId, prefix = "r"): Submitted {
    this.#references += 1;
    const reference = `${prefix}${String(this.#references)}`;
    return this.ledger.submit(
      mint({ organizationId, accountId: this.#accountId, amount: "1.00", reference }),
      NO_DEADLINE,
    );
  }

  /** The organizations of each batch so far, each named once. */
  organizations(): string[] {
    return this.batches.map((batch) => [...new Set(batch.map(({ organizationId }) => organizationId))].join("+"));
  }
}

async function settled(submitted: readonly Submitted[]): Promise<string[]> {
  return (await Promise.allSettled(submitted)).map(({ status }) => status);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

describe("a batch that the database rejects", () => {
  it("is split in halves until the cause is alone, and every other command succeeds", async () => {
    const database = new Rejecting();
    const submitted = Array.from({ length: 64 }, (_, index) =>
      index === 37 ? database.submit(HOSTILE, POISON) : database.submit(OTHER),
    );
    const statuses = await settled(submitted);
    expect(statuses.filter((status) => status === "rejected")).to.have.lengthOf(1);
    expect(statuses[37]).to.equal("rejected");
    // The whole batch, and two halves at each of the six sizes 32, 16, 8, 4, 2 and 1.
    expect(database.batches).to.have.lengthOf(13);
  });

  it("quarantines the organization of the cause: its commands share no batch with others", async () => {
    const database = new Rejecting();
    await settled([database.submit(HOSTILE, POISON)]);
    const first = database.batches.length;
    const submitted = Array.from({ length: 20 }, () => [database.submit(HOSTILE), database.submit(OTHER)]).flat();
    expect(await settled(submitted)).to.deep.equal(Array(40).fill("fulfilled"));
    expect(database.organizations().slice(first)).to.have.members([HOSTILE, OTHER]);
  });

  it("lets others commit while the quarantined commands rest for fifteen times as long as they took", async () => {
    const database = new Rejecting();
    await settled([database.submit(HOSTILE, POISON)]);
    database.batches.length = 0;
    database.commitMillis = 4;
    const hostile = [database.submit(HOSTILE, POISON), database.submit(OTHER)];
    await settled(hostile);
    await turns(3);
    expect(database.rests.map(({ millis }) => millis)).to.deep.equal([4 * 15]);

    const next = database.submit(HOSTILE);
    for (let round = 0; round < 5; round += 1) await settled([database.submit(OTHER)]);
    expect(database.organizations()).to.deep.equal([HOSTILE, ...Array<string>(6).fill(OTHER)]);
    database.rests[0]?.end();
    expect(await settled([next])).to.deep.equal(["fulfilled"]);
  });

  it("lets an organization that is alone commit without a rest", async () => {
    const database = new Rejecting(2);
    await settled([database.submit(HOSTILE, POISON)]);
    for (let round = 0; round < 5; round += 1) await settled([database.submit(HOSTILE)]);
    expect(database.rests).to.deep.equal([]);
  });

  it("ends the quarantine after a minute", async () => {
    const database = new Rejecting();
    await settled([database.submit(HOSTILE, POISON)]);
    database.nowMillis += 60_000;
    await settled([database.submit(HOSTILE), database.submit(OTHER)]);
    expect(database.organizations().at(-1)).to.equal(`${HOSTILE}+${OTHER}`);
  });

  it("is answered before the ledger closes, as its quarantined commands are", async () => {
    const database = new Rejecting();
    await settled([database.submit(HOSTILE, POISON)]);
    const submitted = [database.submit(HOSTILE), database.submit(HOSTILE, POISON), database.submit(OTHER)];
    let closed = false;
    const closing = database.ledger.close().then(() => {
      closed = true;
    });
    expect(closed).to.equal(false);
    const statuses = settled(submitted);
    await turns(10);
    for (const { end } of database.rests) end();
    expect(await statuses).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    await closing;
  });
});
