import { expect } from "chai";

import type { ApprovedBankFile } from "../../src/domain/bank-file.js";
import type { BookHead } from "../../src/domain/book.js";
import type { Closing } from "../../src/domain/closing.js";
import type { Command, Resource } from "../../src/domain/operations.js";
import type { PayoutCheck } from "../../src/domain/payout-check.js";
import type { ApprovedPayoutFile } from "../../src/domain/payout-file.js";
import type { Proposal } from "../../src/domain/proposal.js";
import type { RailAccountRecord } from "../../src/domain/rail-account.js";
import type { ReservePlace } from "../../src/domain/reserve.js";
import type { ApiKeyId, DepositId, OrganizationId, WebhookEndpointId } from "../../src/domain/values/ids.js";
import type { UnixMillis } from "../../src/domain/values/time.js";
import type { EndpointRecord } from "../../src/domain/webhook-endpoint.js";
import { commitBatch } from "../../src/ledger/commit-batch.js";
import type { CommandResult } from "../../src/ledger/ports/committer.js";
import type { ListedBankFile } from "../../src/payouts/ports.js";
import { checkStore } from "../../src/storage/checks/check-store.js";
import type { Cell } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { bookProposals } from "../../src/storage/operators/book-proposals.js";
import { bankPayments } from "../../src/storage/payouts/bank-payments.js";
import { payoutFiles } from "../../src/storage/payouts/payout-files.js";
import { type StoredRailAccount, storedRailAccounts } from "../../src/storage/rails/rail-accounts.js";
import { reads } from "../../src/storage/reads.js";
import type { Read } from "../../src/storage/sql/engine.js";
import { type ApiKeyRow, storedApiKeyOf } from "../../src/storage/sql/records/api-key-rows.js";
import { bookHeadOf, type BookRow } from "../../src/storage/sql/records/book-head-rows.js";
import { depositColumns, depositOf, type DepositRow } from "../../src/storage/sql/records/deposit-rows.js";
import {
  endpointRecordOf,
  endpointsSelect,
  type ReadEndpointRow,
} from "../../src/storage/sql/records/webhook-endpoint-rows.js";
import { historyReads } from "../../src/storage/statements/history.js";
import { MemoryDisk } from "../attack/simulation/disks/memory-disk.js";
import { plain, type PlainResource } from "../support/acted.js";
import { ENGINES, openTestDatabase } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { newOrganizationId, NOW } from "../support/names.js";
import { downloadBankFile, reportBankFileLost } from "../support/operations/bank-files.js";
import { closeMonth } from "../support/operations/book.js";
import { payFile, setPayoutCheck } from "../support/operations/payouts.js";
import { oneOfEach, OPERATION_ROWS } from "../support/operations/table.js";

// A column that no UPDATE sets, and a row that no lookup loads, both show here: what an operation
// answers must be what is stored, and must be found again by the same command.

/** A resource without what stands around that of an operator's command. */
type Made =
  | PlainResource
  | Proposal
  | RailAccountRecord
  | ReservePlace
  | Closing
  | EndpointRecord
  | ApprovedPayoutFile
  | PayoutCheck
  | ApprovedBankFile;

function made(resource: Resource): Made {
  if ("content" in resource) return resource;
  if ("revision" in resource) return resource;
  const inner = "resource" in resource ? resource.resource : undefined;
  if (inner !== undefined && "isLost" in inner) return inner;
  if (inner !== undefined && ("kept" in inner || "noAnswer" in inner)) return withoutSeq(inner);
  return inner !== undefined && ("revision" in inner || "asOfDay" in inner || "rowsSha256" in inner)
    ? inner
    : withoutSeq(plain(resource));
}

/** The file without what the list says beside it. */
function approvedOf(file: ListedBankFile | undefined): ApprovedBankFile | undefined {
  if (file === undefined) return undefined;
  const { organizationId, id, railAccountId, sha256, count, amountCents, day, actor, isLost } = file;
  return { organizationId, id, railAccountId, sha256, count, amountCents, day, actor, isLost };
}

interface Storage {
  readonly organizationId: OrganizationId;
  commit(command: Command): Promise<CommandResult | undefined>;
  stored(resource: Made): Promise<Made | undefined>;
  /** What `kesc verify` finds. */
  findings(): Promise<readonly object[]>;
  close(): Promise<void>;
}

async function openEngine(engine: (typeof ENGINES)[number]): Promise<Storage> {
  const opened = await openTestDatabase(engine);
  const { database, cell } = opened;
  const { id: organizationId } = await keys(database, () => NOW).createOrganization("each operation");
  const { sha256, rowsSha256 } = payFile(organizationId);
  const organization = { id: organizationId, cell: cell.number };
  await payoutFiles(database).store(organization, { sha256, rowsSha256, preview: {}, parts: [] }, NOW);
  const read = reads(cell);
  return {
    organizationId,
    commit: async (command) => (await cell.committer.commit([command], NOW))[0],
    stored: (resource) =>
      "noAnswer" in resource
        ? checkStore(cell)
            .standing(organizationId)
            .then((found) => found && withoutSeq(found.check))
        : "isLost" in resource
          ? bankPayments({ cells: [cell] })
              .file({ id: organizationId, cell: 0 }, resource.id)
              .then(approvedOf)
          : "kept" in resource
            ? historyReads(cell)
                .closedMonth(organizationId, resource.month)
                .then((found) => found && withoutSeq(found))
            : "sums" in resource
              ? headOf(cell, organizationId)
              : "secretSha256" in resource
                ? keyOf(cell, resource.id)
                : "changedSeq" in resource
                  ? endpointIn(cell, resource.id)
                  : "rowsSha256" in resource
                    ? payoutFiles({ cells: [cell] })
                        .file({ id: organizationId, cell: 0 }, resource.sha256)
                        .then((file) => file?.approved)
                    : "revision" in resource
                      ? storedRailAccounts(cell).then((all) => all.map(recordOf).find(({ id }) => id === resource.id))
                      : "asOfDay" in resource
                        ? historyReads(cell)
                            .reserveHoldings(organizationId)
                            .then(([figure]) => figure && { ...figure, organizationId })
                        : "content" in resource
                          ? bookProposals(cell, { id: resource.id }).then(([found]) => found?.proposal)
                          : "person" in resource
                            ? read.account(organizationId, resource.id)
                            : "credits" in resource
                              ? depositIn(cell, organizationId, resource.id)
                              : "usableAt" in resource
                                ? read.destination(organizationId, resource.id)
                                : read.transaction(organizationId, resource.id),
    findings: () => findingsIn(database),
    close: () => opened.dispose(),
  };
}

/** The account without what lists read beside it. */
function recordOf(account: StoredRailAccount): RailAccountRecord {
  const noted = ["isSandbox", "isWhole", "balance", "depositsSince", "depositsReadAt"];
  const fields = Object.entries(account).filter(([name]) => !noted.includes(name));
  return Object.fromEntries(fields) as unknown as RailAccountRecord;
}

/** A deposit as the ledger loads it. */
async function depositIn(cell: Cell, organizationId: OrganizationId, id: DepositId): Promise<Made | undefined> {
  const { reader, engine } = cell;
  const rows = await reader.rows<DepositRow>(
    `SELECT ${depositColumns(engine)} FROM ${engine.table("deposits")} d WHERE d.id = ?`,
    [id],
  );
  const books = await cell.directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
  return rows.flatMap((row) => books.map((book) => depositOf(row, book)))[0];
}

/** A webhook endpoint as the ledger loads it. */
async function endpointIn(cell: Cell, id: WebhookEndpointId): Promise<Made | undefined> {
  const { reader, engine, directory } = cell;
  const [row] = await reader.rows<ReadEndpointRow>(`${endpointsSelect(engine)} WHERE e.id = ?`, [id]);
  const read = ({ sql, bindings }: Read) => reader.rows(sql, bindings);
  return row && endpointRecordOf(row, await directory.book(row.organization_id as OrganizationId, read));
}

/** A key as the ledger loads it. */
async function keyOf({ reader, engine }: Cell, id: ApiKeyId): Promise<Made | undefined> {
  const rows = await reader.rows<ApiKeyRow>(`SELECT * FROM ${engine.table("api_keys")} WHERE id = ?`, [id]);
  return rows.map(storedApiKeyOf)[0];
}

/** The book as the ledger loads it. */
async function headOf(cell: Cell, organizationId: OrganizationId): Promise<BookHead | undefined> {
  const { reader, engine } = cell;
  const rows = await reader.rows<BookRow>(
    `SELECT *, NULL AS begun_at FROM ${engine.table("books")} ORDER BY number`,
    [],
  );
  return rows.map(bookHeadOf).find((head) => head.organizationId === organizationId);
}

/** The fields of what a command returns that are rows themselves. */
const PARTS: ReadonlySet<string> = new Set(["resource", "deposit"]);

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
      if (answer?.kind !== "done") return answer;
      const { resource } = answer;
      const inner = Object.fromEntries(
        Object.entries(resource).map(([name, value]) => [
          name,
          PARTS.has(name) && value ? withoutSeq(value as object) : value,
        ]),
      );
      return { ...answer, resource: withoutSeq(inner) as Resource };
    },
    stored: async (resource) => {
      if ("kept" in resource) {
        // A repeat shows what the ledger has loaded.
        const [answer] = await commitBatch(store, [closeMonth(organizationId)], NOW);
        return answer?.kind === "done" ? made(answer.resource) : undefined;
      }
      if ("noAnswer" in resource) {
        const [answer] = await commitBatch(store, [setPayoutCheck(organizationId)], NOW);
        return answer?.kind === "done" ? made(answer.resource) : undefined;
      }
      if ("isLost" in resource) {
        const again = resource.isLost ? reportBankFileLost(organizationId) : downloadBankFile(organizationId);
        const [answer] = await commitBatch(store, [again], NOW);
        return answer?.kind === "done" ? made(answer.resource) : undefined;
      }
      const { accounts, transactions, deposits, heads } = disk.books();
      if ("sums" in resource) return heads.get(organizationId);
      const isWanted = (row: object): boolean =>
        "rowsSha256" in resource
          ? "rowsSha256" in row
          : "id" in resource
            ? "id" in row && row.id === resource.id
            : "place" in row && row.place === resource.place;
      const row = [...accounts, ...transactions, ...deposits, ...disk.acts].find(isWanted);
      return row && withoutSeq(row);
    },
    findings: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  });
}

/** The resource alone: a row in memory carries its `seq`, too. */
function withoutSeq<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== "seq")) as Row;
}

/** Without what is stored elsewhere. A repeat shows it again. */
function withoutLinked(resource: Made): Made {
  const isLinked = ([name]: [string, unknown]): boolean =>
    name === "freeze" || name === "correction" || name === "proposal";
  return Object.fromEntries(Object.entries(resource).filter((entry) => !isLinked(entry))) as Made;
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
      for (const command of setup) {
        const answer = await storage.commit(command);
        if (answer?.kind !== "done") throw new Error(`${command.name} was not done: ${JSON.stringify(answer)}`);
      }
      let begunAt: UnixMillis | undefined;
      for (const each of operations) {
        // The end of a return says when it has begun.
        const command = each.name === "endReturn" ? { ...each, begunAt: begunAt ?? NOW } : each;
        const answer = await storage.commit(command);
        if (answer?.kind !== "done") throw new Error(`${command.name} was not done: ${JSON.stringify(answer)}`);
        const { resource } = answer;
        const shown = made(resource);
        if ("credits" in shown) begunAt = shown.updatedAt;
        expect(await storage.stored(made(resource)), command.name).to.deep.equal(withoutLinked(made(resource)));
        const repeated = await storage.commit(command);
        const expected = OPERATION_ROWS[command.name].repeated;
        if (expected === "effect") {
          expect(repeated, command.name).to.include({ kind: "done", replayed: false });
          continue;
        }
        if (expected === "refusal") {
          expect(repeated?.kind, command.name).to.equal("refused");
          continue;
        }
        if (expected === "parts that are replays" && repeated?.kind === "done") {
          expect(repeated.replayed, command.name).to.equal(true);
          expect(made(repeated.resource), command.name).to.deep.equal(made(resource));
          continue;
        }
        expect(repeated, command.name).to.deep.equal({ kind: "done", resource, replayed: true });
      }
      expect(await storage.findings()).to.deep.equal([]);
    });
  });
}
