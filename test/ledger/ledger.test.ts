import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import { type Cents, MAX_CENTS } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { Ledger, type LedgerOptions } from "../../src/ledger/ledger.js";
import type { Committer } from "../../src/ledger/ports/committer.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { keys } from "../../src/storage/keys.js";
import { reads } from "../../src/storage/reads.js";
import { openTestDatabase, type TestDatabase } from "../support/databases.js";
import { NO_DEADLINE } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { suspension } from "../support/operations/book.js";
import { mint } from "../support/operations/transactions.js";

const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());

describe("the ledger's queue", () => {
  let opened: TestDatabase;
  let committer: Committer;
  let organizationId: OrganizationId;
  let accountId: AccountId;
  let references = 0;

  before(async () => {
    opened = await openTestDatabase("sqlite");
    committer = opened.cell.committer;
    organizationId = (await keys(opened.database, now).createOrganization("queue")).id;
    const created = await ledgerOver(committer).submit(createAccount(organizationId, "user"), NO_DEADLINE);
    if (created.kind !== "done") throw new Error(created.refusal.reason);
    accountId = created.resource.id;
  });
  after(() => opened.dispose());

  function ledgerOver(over: Committer, options: Partial<LedgerOptions> = {}): Ledger {
    return new Ledger({
      committer: over,
      now,
      batchMax: 128,
      queueMax: 1_000,
      onStoreError: () => undefined,
      ...options,
    });
  }

  function mintOne(): ReturnType<typeof mint> {
    references += 1;
    return mint({ organizationId, accountId, amount: "1.00", reference: `r${String(references)}` });
  }

  async function availableCents(): Promise<number> {
    return (await reads(opened.cell).account(organizationId, accountId))?.availableCents ?? 0;
  }

  /** A committer that waits until `open` is called, and counts its batches. */
  function gated(batchesMax = 1): { committer: Committer; batches: number[]; open: () => void } {
    const batches: number[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    return {
      batches,
      open: () => {
        open();
      },
      committer: {
        batchesMax,
        batchUsual: 64,
        commit: async (commands, at) => {
          batches.push(commands.length);
          await gate;
          return committer.commit(commands, at);
        },
      },
    };
  }

  it("makes one batch of whatever arrived while the last commit was being written", async () => {
    const gate = gated();
    const ledger = ledgerOver(gate.committer);
    const first = ledger.submit(mintOne(), NO_DEADLINE);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const later = Array.from({ length: 50 }, () => ledger.submit(mintOne(), NO_DEADLINE));
    gate.open();
    const outcomes = await Promise.all([first, ...later]);
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(Array(51).fill("done"));
    expect(gate.batches).to.deep.equal([1, 50]);
  });

  it("tells what waits: the commands, the time of the oldest, and the calls without room", async () => {
    const gate = gated();
    let clock = 1_000;
    const ledger = ledgerOver(gate.committer, { queueMax: 4, now: () => toUnixMillis(now() - 60_000 + clock) });
    const from = now() - 60_000;
    expect(ledger.queueState()).to.deep.equal({ length: 0, oldestAt: undefined, overflow: 0 });
    const submitted = [ledger.submit(mintOne(), NO_DEADLINE)];
    await new Promise(setImmediate);
    clock = 2_000;
    submitted.push(ledger.submit(mintOne(), NO_DEADLINE));
    clock = 3_000;
    for (let more = 0; more < 2; more += 1) submitted.push(ledger.submit(mintOne(), NO_DEADLINE));
    const { length, oldestAt = 0, overflow } = ledger.queueState();
    // One key has half of the room. The first command is being committed.
    expect({ length, overflow }).to.deep.equal({ length: 2, overflow: 1 });
    expect(oldestAt - from).to.be.within(2_000, 2_999);
    gate.open();
    await Promise.all(submitted);
    expect(ledger.queueState()).to.deep.equal({ length: 0, oldestAt: undefined, overflow: 0 });
  });

  it("traces the commits that have recorded calls, each call once, and whether they failed", async () => {
    const traced: unknown[] = [];
    const place = (spanId: string) => ({ traceId: "t", spanId, isSampled: true });
    const [first, second] = [place("1"), place("2")];
    const options: Partial<LedgerOptions> = {
      traceCommit: (calls, batchSize) => (isError) => traced.push({ calls, batchSize, isError }),
    };
    const ledger = ledgerOver(committer, options);
    await Promise.all([
      ledger.submit(mintOne(), NO_DEADLINE, { trace: first }),
      ledger.submit(mintOne(), NO_DEADLINE),
      ledger.submit(mintOne(), NO_DEADLINE, { trace: second }),
      ledger.submit(mintOne(), NO_DEADLINE, { trace: first }),
    ]);
    await ledger.submit(mintOne(), NO_DEADLINE);
    expect(traced).to.deep.equal([{ calls: [first, second], batchSize: 4, isError: false }]);
    const failing = { ...committer, commit: () => Promise.reject(new StoreError("unavailable", "test")) };
    await ledgerOver(failing, options).submit(mintOne(), NO_DEADLINE, { trace: first });
    expect(traced[1]).to.deep.equal({ calls: [first], batchSize: 1, isError: true });
  });

  it("puts no more commands into one commit than it may", async () => {
    const gate = gated();
    const ledger = ledgerOver(gate.committer, { batchMax: 20 });
    gate.open();
    await Promise.all(Array.from({ length: 50 }, () => ledger.submit(mintOne(), NO_DEADLINE)));
    expect(gate.batches).to.deep.equal([20, 20, 10]);
  });

  it("hands a full batch over while another is being written, and no smaller one", async () => {
    const gate = gated(2);
    const ledger = ledgerOver(gate.committer, { batchMax: 20 });
    const first = ledger.submit(mintOne(), NO_DEADLINE);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const later = Array.from({ length: 45 }, () => ledger.submit(mintOne(), NO_DEADLINE));
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(gate.batches).to.deep.equal([1, 20]);
    gate.open();
    expect((await Promise.all([first, ...later])).every(({ kind }) => kind === "done")).to.equal(true);
    expect(gate.batches).to.deep.equal([1, 20, 20, 5]);
  });

  it("hands 32 over behind a batch that is being written, however many a batch may hold, and no fewer", async () => {
    const gate = gated(2);
    const ledger = ledgerOver(gate.committer, { batchMax: 256 });
    const submit = (count: number): Promise<{ kind: string }>[] =>
      Array.from({ length: count }, () => ledger.submit(mintOne(), NO_DEADLINE));
    const first = submit(1);
    await new Promise(setImmediate);
    const second = submit(31);
    await new Promise(setImmediate);
    expect(gate.batches).to.deep.equal([1]);
    const third = submit(1);
    await new Promise(setImmediate);
    expect(gate.batches).to.deep.equal([1, 32]);
    gate.open();
    const outcomes = await Promise.all([...first, ...second, ...third]);
    expect(outcomes.every(({ kind }) => kind === "done")).to.equal(true);
  });

  it("gives the settlement a line of its own, which no call delays", async () => {
    const gate = gated();
    const ledger = ledgerOver(gate.committer, { batchMax: 20 });
    const first = ledger.submit(mintOne(), NO_DEADLINE);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const done: string[] = [];
    const calls = Array.from({ length: 100 }, () =>
      ledger.submit(mintOne(), NO_DEADLINE).then(() => done.push("call")),
    );
    const rail = ledger.submit(mintOne(), NO_DEADLINE, { rail: true }).then(() => done.push("rail"));
    gate.open();
    await Promise.all([first, rail, ...calls]);
    expect(done.indexOf("rail")).to.be.lessThan(20);
  });

  it("lets what comes in bulk take turns with the single calls of the same organization", async () => {
    const gate = gated();
    const ledger = ledgerOver(gate.committer, { batchMax: 20 });
    const first = ledger.submit(mintOne(), NO_DEADLINE);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const done: string[] = [];
    const bulk = Array.from({ length: 100 }, () =>
      ledger.submit(mintOne(), NO_DEADLINE, { bulk: true }).then(() => done.push("bulk")),
    );
    const single = ledger.submit(mintOne(), NO_DEADLINE).then(() => done.push("single"));
    gate.open();
    await Promise.all([first, single, ...bulk]);
    expect(done.indexOf("single")).to.be.lessThan(20);
  });

  it("takes 64 of those that came one by one, however many wait, and a quarter of those that came in bulk", async () => {
    const gate = gated();
    const ledger = ledgerOver(gate.committer, { batchMax: 200, queueMax: 2_000 });
    const first = ledger.submit(mintOne(), NO_DEADLINE);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const later = Array.from({ length: 1_000 }, () => ledger.submit(mintOne(), NO_DEADLINE, { bulk: true }));
    gate.open();
    await Promise.all([first, ...later]);
    expect(gate.batches.slice(0, 6)).to.deep.equal([1, 200, 200, 150, 112, 84]);
    expect(gate.batches.slice(6)).to.deep.equal([64, 64, 64, 62]);

    gate.batches.length = 0;
    await Promise.all(Array.from({ length: 1_000 }, () => ledger.submit(mintOne(), NO_DEADLINE)));
    expect(Math.max(...gate.batches)).to.equal(64);
  });

  it("refuses more than may wait, and does the others", async () => {
    const ledger = ledgerOver(committer, { queueMax: 5 });
    const before = await availableCents();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => ledger.submit(mintOne(), NO_DEADLINE)));
    expect(outcomes.map((outcome) => (outcome.kind === "refused" ? outcome.refusal.reason : "done"))).to.deep.equal([
      "done",
      "done",
      "done",
      "QUEUE_FULL",
      "QUEUE_FULL",
    ]);
    expect(await availableCents()).to.equal(before + 300);
  });

  it("never starts a command whose deadline passed while it waited", async () => {
    const ledger = ledgerOver(committer);
    const before = await availableCents();
    const [late, live] = await Promise.all([
      ledger.submit(mintOne(), toUnixMillis(Date.now() - 1)),
      ledger.submit(mintOne(), NO_DEADLINE),
    ]);
    expect(late).to.deep.equal({ kind: "refused", refusal: { reason: "DEADLINE_EXCEEDED" } });
    expect(live.kind).to.equal("done");
    expect(await availableCents()).to.equal(before + 100);
  });

  it("answers all that it took before it is closed, and takes no more", async () => {
    const ledger = ledgerOver(committer, { batchMax: 2 });
    const taken = Array.from({ length: 7 }, () => ledger.submit(mintOne(), NO_DEADLINE));
    const closed = ledger.close();
    const refused = await ledger.submit(mintOne(), NO_DEADLINE);
    await closed;
    expect(refused).to.deep.equal({ kind: "refused", refusal: { reason: "SHUTTING_DOWN" } });
    expect((await Promise.all(taken)).every(({ kind }) => kind === "done")).to.equal(true);
  });

  describe("when a batch goes wrong", () => {
    it("lets a refusal harm no neighbour", async () => {
      const ledger = ledgerOver(committer);
      const full = { ...mintOne(), amountCents: MAX_CENTS };
      const outcomes = await Promise.all([mintOne(), full, mintOne()].map((each) => ledger.submit(each, NO_DEADLINE)));
      expect(outcomes.map(({ kind }) => kind)).to.deep.equal(["done", "refused", "done"]);
    });

    it("lets a bug in one decision harm no neighbour", async () => {
      const ledger = ledgerOver(committer);
      const broken = { ...mintOne(), amountCents: 0.5 as Cents };
      const outcomes = await Promise.allSettled(
        [mintOne(), broken, mintOne()].map((each) => ledger.submit(each, NO_DEADLINE)),
      );
      expect(outcomes.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    });

    it("lets a command that the database does not take harm no neighbour", async () => {
      const ledger = ledgerOver(committer);
      const before = await availableCents();
      const refusedByCheck = { ...mintOne(), amountCents: 0 as Cents };
      const outcomes = await Promise.allSettled(
        [mintOne(), refusedByCheck, mintOne()].map((each) => ledger.submit(each, NO_DEADLINE)),
      );
      expect(outcomes.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
      expect(await availableCents()).to.equal(before + 200);
    });

    it("runs a batch that lost a race again, and gives up in the end", async () => {
      for (const [losses, kind, calls] of [
        [3, "done", 4],
        [100, "refused", 8],
      ] as const) {
        let tries = 0;
        const ledger = ledgerOver({
          batchesMax: 1,
          batchUsual: 64,
          commit: (commands, at) => {
            tries += 1;
            return tries <= losses
              ? Promise.reject(new StoreError("conflict", undefined))
              : committer.commit(commands, at);
          },
        });
        expect((await ledger.submit(mintOne(), NO_DEADLINE)).kind).to.equal(kind);
        expect(tries).to.equal(calls);
      }
    });

    it("answers STORAGE_UNAVAILABLE to all of a batch that can't be committed, and works again afterwards", async () => {
      let down = true;
      const seen: string[] = [];
      const ledger = ledgerOver(
        {
          batchesMax: 1,
          batchUsual: 64,
          commit: (commands, at) =>
            down
              ? Promise.reject(new StoreError("unavailable", new Error("the disk is full")))
              : committer.commit(commands, at),
        },
        { onStoreError: ({ kind }, batchSize) => seen.push(`${kind} ${String(batchSize)}`) },
      );
      const before = await availableCents();
      const commands: Command[] = [mintOne(), mintOne()];
      const outcomes = await Promise.all(commands.map((command) => ledger.submit(command, NO_DEADLINE)));
      expect(outcomes).to.deep.equal(Array(2).fill({ kind: "refused", refusal: { reason: "STORAGE_UNAVAILABLE" } }));
      expect(seen).to.deep.equal(["unavailable 2"]);
      expect(await availableCents()).to.equal(before);

      down = false;
      const again = await Promise.all(commands.map((command) => ledger.submit(command, NO_DEADLINE)));
      expect(again.map((outcome) => outcome.kind === "done" && !outcome.replayed)).to.deep.equal([true, true]);
    });
  });
});

describe("the queue of operators", () => {
  const ledgerWith = (batches: number[][], options: Partial<LedgerOptions> = {}) => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const committer: Committer = {
      batchesMax: 1,
      batchUsual: 4,
      commit: async (commands) => {
        batches.push(commands.map((command) => ("amountCents" in command ? 1 : 0)));
        if (batches.length === 1) await gate;
        return commands.map(() => ({ kind: "refused", refusal: { reason: "ORGANIZATION_SUSPENDED" } }) as const);
      },
    };
    const ledger = new Ledger({
      committer,
      now,
      batchMax: 4,
      queueMax: 100,
      onStoreError: () => undefined,
      ...options,
    });
    return { ledger, open };
  };
  const organizationId = "org_full" as OrganizationId;
  const money = () => mint({ organizationId, accountId: "acc_1" as AccountId, amount: "1.00", reference: "r" });
  const suspending = () => suspension("suspendOrganization", organizationId);

  it("goes into the next batch, first, though the organization has filled its share", async () => {
    const batches: number[][] = [];
    const { ledger, open } = ledgerWith(batches);
    const first = ledger.submit(money(), NO_DEADLINE);
    await Promise.resolve();
    const full = Array.from({ length: 60 }, () => ledger.submit(money(), NO_DEADLINE));
    const suspended = ledger.submit(suspending(), NO_DEADLINE, { operator: true });
    await new Promise((resolve) => setImmediate(resolve));
    open();
    await Promise.all([first, suspended, ...full]);
    expect(batches[1]).to.deep.equal([0, 1, 1, 1]);
  });

  it("has room for 64, and a batch takes at most 16 before others", async () => {
    const batches: number[][] = [];
    const { ledger, open } = ledgerWith(batches, { batchMax: 32 });
    const first = ledger.submit(money(), NO_DEADLINE);
    await new Promise((resolve) => setImmediate(resolve));
    const acts = Array.from({ length: 65 }, () => ledger.submit(suspending(), NO_DEADLINE, { operator: true }));
    const others = Array.from({ length: 8 }, () => ledger.submit(money(), NO_DEADLINE));
    const last = await acts.at(-1);
    expect(last).to.deep.equal({ kind: "refused", refusal: { reason: "QUEUE_FULL" } });
    open();
    await Promise.all([first, ...acts, ...others]);
    expect(batches[1]?.filter((each) => each === 0)).to.have.lengthOf(16);
  });

  it("quarantines nobody by a command that the database rejects", async () => {
    let commits = 0;
    const committer: Committer = {
      batchesMax: 1,
      batchUsual: 4,
      commit: (commands) => {
        commits += 1;
        if (commits === 1) return Promise.reject(new StoreError("rejected", new Error("a constraint")));
        return Promise.resolve(commands.map(() => ({ kind: "refused", refusal: { reason: "BOOK_MOVING" } }) as const));
      },
    };
    const ledger = new Ledger({ committer, now, batchMax: 4, queueMax: 100, onStoreError: () => undefined });
    const rejected = await ledger
      .submit(suspending(), NO_DEADLINE, { operator: true })
      .catch((error: unknown) => error);
    expect(rejected).to.be.instanceOf(StoreError);
    // Two organizations share a batch only if neither is quarantined.
    const strangers = "org_other" as OrganizationId;
    await Promise.all([
      ledger.submit(money(), NO_DEADLINE),
      ledger.submit({ ...money(), organizationId: strangers }, NO_DEADLINE),
    ]);
    expect(commits).to.equal(2);
  });
});
