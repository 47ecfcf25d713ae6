import { expect } from "chai";

import type { Account } from "../../src/domain/account.js";
import type { Command } from "../../src/domain/commands.js";
import type { Transaction } from "../../src/domain/transaction.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { commitBatch } from "../../src/ledger/commit-batch.js";
import type { CommandResult } from "../../src/ledger/ports/committer.js";
import { keys } from "../../src/storage/keys.js";
import { reads } from "../../src/storage/reads.js";
import { verify } from "../../src/verify/verify.js";
import { MemoryDisk } from "../attack/simulation/disks/memory-disk.js";
import {
  cancel,
  changeStatus,
  createAccount,
  eraseAccount,
  mint,
  newOrganizationId,
  redeem,
  reverse,
  SLOW_RAIL,
  updateAccount,
} from "../support/commands.js";
import { ENGINES, openTestDatabase } from "../support/databases.js";
import { NOW } from "../support/given.js";

// A column that no UPDATE sets, and a row that no lookup loads, both show here: what an operation
// answers must be what is stored, and must be found again by the same command.

type Resource = Account | Transaction;

interface Storage {
  readonly organizationId: OrganizationId;
  commit(command: Command): Promise<CommandResult | undefined>;
  stored(resource: Resource): Promise<Resource | undefined>;
  /** What `kesc verify` finds. */
  findings(): Promise<readonly object[]>;
  close(): Promise<void>;
}

/**
 * One command of each operation. They are done in this order, after `setup`. An operation without a
 * line here does not compile.
 */
function oneOfEach(organizationId: OrganizationId) {
  const account = createAccount(organizationId, "user", { key: "account" });
  const { newAccountId: accountId } = account;
  const empty = createAccount(organizationId, "empty");
  const deposit = mint({ organizationId, accountId, amount: "5.00", reference: "in", metadata: { till: "7" } });
  const pending = redeem({ organizationId, accountId, amount: "2.00", reference: "out", rail: SLOW_RAIL, key: "out" });
  const operations = {
    createAccount: account,
    mint: deposit,
    redeem: pending,
    cancelTransaction: cancel(organizationId, pending.newTransactionId),
    reverseTransaction: reverse(organizationId, deposit.newTransactionId, { description: "twice", key: "undo" }),
    freezeAccount: changeStatus("freezeAccount", organizationId, accountId),
    unfreezeAccount: changeStatus("unfreezeAccount", organizationId, accountId),
    updateAccount: updateAccount(organizationId, empty.newAccountId),
    closeAccount: changeStatus("closeAccount", organizationId, empty.newAccountId),
    eraseAccount: eraseAccount(organizationId, empty.newAccountId),
  } satisfies Record<Command["name"], Command>;
  return { setup: empty, operations: Object.values(operations) };
}

async function openEngine(engine: (typeof ENGINES)[number]): Promise<Storage> {
  const opened = await openTestDatabase(engine);
  const { database, cell } = opened;
  const { id: organizationId } = await keys(database, () => NOW).createOrganization("each operation");
  const read = reads(cell);
  return {
    organizationId,
    commit: async (command) => (await cell.committer.commit([command], NOW))[0],
    stored: (resource) =>
      "person" in resource ? read.account(organizationId, resource.id) : read.transaction(organizationId, resource.id),
    findings: async () => (await verify(database)).firstFindings,
    close: () => opened.dispose(),
  };
}

/** The memory twin of the simulation, which must store what the engines store. */
function openMemory(): Promise<Storage> {
  const organizationId = newOrganizationId();
  const disk = new MemoryDisk([organizationId]);
  const steps = { before: () => Promise.resolve(), committed: () => undefined };
  const store = disk.open().store(steps);
  return Promise.resolve({
    organizationId,
    commit: async (command) => {
      const [answer] = await commitBatch(store, [command], NOW);
      return answer?.kind === "done" ? { ...answer, resource: withoutSeq(answer.resource) } : answer;
    },
    stored: ({ id: wanted }) => {
      const { accounts, transactions } = disk.books();
      const row = [...accounts, ...transactions].find(({ id }) => id === wanted);
      return Promise.resolve(row === undefined ? undefined : withoutSeq(row));
    },
    findings: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  });
}

/** The resource alone: a row in memory carries its `seq`, too. */
function withoutSeq(row: Resource): Resource {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== "seq")) as unknown as Resource;
}

for (const where of [...ENGINES, "memory"] as const) {
  describe(`each operation, stored on ${where}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await (where === "memory" ? openMemory() : openEngine(where));
    });
    after(() => storage.close());

    it("stores the resource that it answers, and answers a repeat with the same", async () => {
      const { setup, operations } = oneOfEach(storage.organizationId);
      await storage.commit(setup);
      for (const command of operations) {
        const answer = await storage.commit(command);
        if (answer?.kind !== "done") throw new Error(`${command.name} was not done: ${JSON.stringify(answer)}`);
        const { resource } = answer;
        expect(await storage.stored(resource), command.name).to.deep.equal(resource);
        const repeated = await storage.commit(command);
        expect(repeated, command.name).to.deep.equal({ kind: "done", resource, replayed: true });
      }
      expect(await storage.findings()).to.deep.equal([]);
    });
  });
}
