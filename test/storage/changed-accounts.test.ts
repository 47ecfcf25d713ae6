import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import type { UnixMillis } from "../../src/domain/values/time.js";
import type { CommandResult } from "../../src/ledger/ports/committer.js";
import { ACCOUNTS } from "../../src/model/accounts.js";
import type { TableModel } from "../../src/model/column.js";
import { BOOKS } from "../../src/model/organizations.js";
import { keys } from "../../src/storage/keys.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { depositReference, NOW, SLOW_RAIL } from "../support/names.js";
import { createAccount, freezeAccount, setLimits } from "../support/operations/accounts.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { oneOfEach } from "../support/operations/table.js";
import { beginPayment, completePayment, mint, redeem } from "../support/operations/transactions.js";

// Somebody with the database alone has a balance that the journal does not give, and an API key. No
// operation may take it over into the journal, and no rail may pay it out.

const RAISED_CENTS = 10_000_00;

type StoredRow = Readonly<Record<string, string | number | null>>;

type AccountRow = StoredRow & {
  readonly id: string;
  readonly available_cents: number;
  readonly held_cents: number;
  readonly status: string;
  readonly tier: string;
};

class Given {
  readonly #opened: TestDatabase;
  readonly organizationId: OrganizationId;
  #reference = 0;

  constructor(opened: TestDatabase, organizationId: OrganizationId) {
    this.#opened = opened;
    this.organizationId = organizationId;
  }

  async commit(command: Command): Promise<CommandResult> {
    const [result] = await this.#opened.cell.committer.commit([command], NOW);
    if (result === undefined || result.kind === "bug") throw new Error(`${command.name}: ${JSON.stringify(result)}`);
    return result;
  }

  async do(command: Command): Promise<CommandResult> {
    const result = await this.commit(command);
    if (result.kind !== "done") throw new Error(`${command.name} was not done: ${JSON.stringify(result)}`);
    return result;
  }

  /** The reason of the refusal, or "done". */
  async redeem(accountId: string, cents: number): Promise<string> {
    this.#reference += 1;
    const amount = (cents / 100).toFixed(2);
    const to = { organizationId: this.organizationId, accountId: accountId as AccountId, rail: SLOW_RAIL };
    const result = await this.commit(redeem({ ...to, amount, reference: `loot ${String(this.#reference)}` }));
    return result.kind === "refused" ? result.refusal.reason : result.kind;
  }

  sql<Row>(...statements: readonly string[]): Promise<Row[]> {
    return execute<Row>(this.#opened.address, ...statements);
  }

  accounts(): Promise<readonly AccountRow[]> {
    return this.#rows<AccountRow>(ACCOUNTS, "SELECT * FROM accounts ORDER BY seq");
  }

  books(): Promise<readonly StoredRow[]> {
    return this.#rows<StoredRow>(BOOKS, "SELECT * FROM books");
  }

  /** The driver of PostgreSQL reads large numbers as texts. */
  async #rows<Row extends StoredRow>({ columns }: TableModel, sql: string): Promise<readonly Row[]> {
    const rows = await this.sql<Readonly<Record<string, string | null>>>(sql);
    const valueOf = (name: string, value: string | null): string | number | null =>
      value !== null && columns[name]?.type === "int64" ? Number(value) : value;
    return rows.map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, valueOf(name, value)])) as Row,
    );
  }

  /** Adds to the balances of these accounts. Their book stays right, so it refuses nothing. */
  async raise(accounts: readonly AccountRow[], cents: number): Promise<void> {
    const sum = `available_cents = available_cents + ${String(cents)}`;
    await this.sql(`UPDATE accounts SET ${sum} WHERE id IN (${listOf(accounts)})`);
  }

  /** Writes the row as it was, with its mac. */
  async putBack(row: AccountRow): Promise<void> {
    await this.sql(`UPDATE accounts SET ${valuesOf(ACCOUNTS, row)} WHERE id = '${row.id}'`);
  }

  async putBackBook(row: StoredRow): Promise<void> {
    await this.sql(`UPDATE books SET ${valuesOf(BOOKS, row)}`);
  }

  /** The number of the journal's rows about these accounts. */
  async rowsAbout(accounts: readonly AccountRow[]): Promise<number> {
    return (await this.sql(`SELECT seq FROM journal WHERE account_id IN (${listOf(accounts)})`)).length;
  }

  findings(): Promise<readonly object[]> {
    return findingsIn(this.#opened.database);
  }
}

async function given(opened: TestDatabase): Promise<Given> {
  const { id } = await keys(opened.database, () => NOW).createOrganization("changed");
  return new Given(opened, id);
}

/** Of an organization that is suspended, the refusal comes first. */
const REFUSED = ["ROW_CHANGED", "ORGANIZATION_SUSPENDED"];

for (const engine of ENGINES) {
  describe(`an account whose row somebody has changed (${engine})`, () => {
    let opened: TestDatabase;

    beforeEach(async () => {
      opened = await openTestDatabase(engine);
    });
    afterEach(() => opened.dispose());

    it("takes part in no operation with a raised balance, and is paid nothing", async () => {
      const book = await given(opened);
      const { setup, operations } = oneOfEach(book.organizationId);
      for (const command of setup) await book.do(command);
      let returnedAt: UnixMillis | undefined;
      const refused: string[] = [];
      for (const each of operations) {
        const command = each.name === "endReturn" ? { ...each, begunAt: returnedAt ?? NOW } : each;
        const open = (await book.accounts()).filter(({ status }) => status !== "CLOSED");
        const rich = open.find(({ status }) => status === "ACTIVE");
        const before = await book.rowsAbout(open);
        await book.raise(open, RAISED_CENTS);
        let result = await book.commit(command);
        expect(await book.rowsAbout(open), command.name).to.equal(before);
        if (rich !== undefined) {
          expect(await book.redeem(rich.id, rich.available_cents + 1), command.name).to.be.oneOf(REFUSED);
        }
        await book.raise(open, -RAISED_CENTS);
        if (result.kind === "refused") {
          expect(result.refusal.reason, command.name).to.equal("ROW_CHANGED");
          refused.push(command.name);
          // With the values that `kesc verify` names the account is in use again.
          result = await book.do(command);
        }
        returnedAt = returnedAtIn(result) ?? returnedAt;
      }
      expect(refused).to.include.members(["mint", "cancelTransaction", "completePayment", "allocate"]);
      expect(await book.findings()).to.deep.equal([]);
    });

    it("gets nothing back with a row from before it had less, or another status or tier", async () => {
      const book = await given(opened);
      const { setup, operations } = oneOfEach(book.organizationId);
      let returnedAt: UnixMillis | undefined;
      const refused: string[] = [];
      for (const each of [...setup, ...operations]) {
        const command = each.name === "endReturn" ? { ...each, begunAt: returnedAt ?? NOW } : each;
        const before = new Map((await book.accounts()).map((row) => [row.id, row]));
        const result = await book.do(command);
        returnedAt = returnedAtIn(result) ?? returnedAt;
        for (const row of await book.accounts()) {
          const old = before.get(row.id);
          if (old === undefined || !isWorthMore(old, row)) continue;
          await book.putBack(old);
          expect(await book.redeem(row.id, 1), command.name).to.be.oneOf(REFUSED);
          await book.putBack(row);
          refused.push(command.name);
        }
      }
      expect(refused).to.include.members(["redeem", "freezeAccount", "setAccountTier", "failPayment"]);
      expect(await book.findings()).to.deep.equal([]);
    });

    it("is not paid twice for an order that was put back", async () => {
      const book = await given(opened);
      const { organizationId } = book;
      const account = createAccount(organizationId, "user");
      const { newAccountId: accountId } = account;
      const out = redeem({ organizationId, accountId, amount: "2.00", reference: "out", rail: SLOW_RAIL });
      const id = out.newTransactionId;
      const orders: readonly Command[] = [
        beginPayment(organizationId, id),
        completePayment(organizationId, id, { receipt: "r1" }),
      ];
      await book.do(account);
      await book.do(mint({ organizationId, accountId, amount: "5.00", reference: "in" }));
      await book.do(out);
      for (const command of orders) {
        await book.do(command);
        await book.sql(
          `UPDATE transactions SET status = 'PENDING', completed_at = NULL, rail_receipt = NULL WHERE id = '${id}'`,
          `UPDATE payments SET state = 'READY' WHERE transaction_id = '${id}' AND state <> 'ENDED'`,
        );
        expect(await book.commit(beginPayment(organizationId, id))).to.deep.equal({
          kind: "refused",
          refusal: { reason: "ROW_CHANGED", resourceId: id },
        });
        await book.sql(
          `UPDATE transactions SET status = 'PROCESSING' WHERE id = '${id}'`,
          `UPDATE payments SET state = 'SENDING' WHERE transaction_id = '${id}' AND state <> 'ENDED'`,
        );
      }
    });

    it("credits no deposit again whose row somebody has made wait", async () => {
      const book = await given(opened);
      const { organizationId } = book;
      const account = createAccount(organizationId, "amina");
      const accountId = account.newAccountId;
      const claim = (reference: string) =>
        mint({ organizationId, accountId, amount: "5.00", reference, receipt: "d1" });
      const deposit = receiveDeposit(organizationId, { receipt: "d1", typed: depositReference(99) });
      for (const command of [account, deposit, claim("first")]) await book.do(command);
      await book.sql(
        `UPDATE deposits SET status = 'UNALLOCATED', reason = 'NO_REFERENCE', account_id = NULL, transaction_id = NULL`,
      );
      const refusal = { reason: "ROW_CHANGED", resourceId: deposit.newDepositId };
      expect(await book.commit(claim("second"))).to.deep.equal({ kind: "refused", refusal });
    });

    it("is refused alone, whatever column was changed", async () => {
      const book = await given(opened);
      const [changed, other] = ["changed", "other"].map((user) => createAccount(book.organizationId, user));
      if (changed === undefined || other === undefined) throw new Error("two accounts");
      for (const account of [changed, other]) await book.do(account);
      const { organizationId } = book;
      const [before] = await book.accounts();
      if (before === undefined) throw new Error("an account");
      for (const name of [...ACCOUNTS.bound, "mac"]) {
        if (name === "id") continue;
        await book.sql(`UPDATE accounts SET ${CHANGES[name] ?? `${name} = ${name} + 1`} WHERE id = '${before.id}'`);
        const into = (accountId: AccountId): Command =>
          mint({ organizationId, accountId, amount: "1.00", reference: `${name} of ${accountId}` });
        const commands = [into(changed.newAccountId), into(other.newAccountId)];
        const results = await opened.cell.committer.commit(commands, NOW);
        expect(results[0], name).to.deep.equal({
          kind: "refused",
          refusal: { reason: "ROW_CHANGED", resourceId: changed.newAccountId },
        });
        expect(results[1], name).to.include({ kind: "done" });
        await book.putBack(before);
      }
      expect(await book.commit(freezeAccount(organizationId, changed.newAccountId))).to.include({ kind: "done" });
    });

    it("is refused with its whole book, whatever column of that was changed or put back", async () => {
      const book = await given(opened);
      const { organizationId } = book;
      const account = createAccount(organizationId, "user");
      await book.do(setLimits(organizationId, { changes: { DAY: toCents(100_000) } }));
      await book.do(account);
      const into = (reference: string): Command =>
        mint({ organizationId, accountId: account.newAccountId, amount: "1.00", reference });
      const refused = { kind: "refused", refusal: { reason: "ROW_CHANGED", resourceId: organizationId } };
      await book.do(into("first"));
      const [old] = await book.books();
      await book.do(into("second"));
      const [last] = await book.books();
      if (old === undefined || last === undefined) throw new Error("a book");
      for (const name of [...BOOKS.bound, "mac"]) {
        if (name === "organization_id") continue;
        await book.sql(`UPDATE books SET ${BOOK_CHANGES[name] ?? CHANGES[name] ?? `${name} = ${name} + 1`}`);
        expect(await book.commit(into(name)), name).to.deep.equal(refused);
        await book.putBackBook(last);
      }
      await book.putBackBook(old);
      expect(await book.commit(into("put back"))).to.deep.equal(refused);
      await book.putBackBook(last);
      await book.do(into("third"));
      expect(await book.findings()).to.deep.equal([]);
    });
  });
}

/** The columns that the service changes or that the `mac` covers, with the values of the row. */
function valuesOf({ columns, bound = [] }: TableModel, row: StoredRow): string {
  const textOf = (value: string | number | null): string =>
    value === null ? "NULL" : typeof value === "number" ? String(value) : `'${value}'`;
  const changed = Object.entries(columns).filter(([name, { isChanged }]) => isChanged || bound.includes(name));
  return changed.map(([name]) => `${name} = ${textOf(row[name] ?? null)}`).join(", ");
}

/** The ids for SQL. */
function listOf(accounts: readonly AccountRow[]): string {
  return ["", ...accounts.map(({ id }) => id)].map((id) => `'${id}'`).join(", ");
}

/** The end of a return says when it has begun. */
function returnedAtIn(result: CommandResult): UnixMillis | undefined {
  if (result.kind !== "done" || !("resource" in result.resource)) return undefined;
  const { resource } = result.resource;
  return resource !== undefined && "credits" in resource ? resource.updatedAt : undefined;
}

/** How to change a column of `books` in the limits of its constraints. */
const BOOK_CHANGES: Readonly<Record<string, string>> = {
  suspended_seq: "suspended_seq = 2",
  receipts_required_seq: "receipts_required_seq = 2",
  reserve_rules: "reserve_rules = '[]'",
  payout_list: "payout_list = '[]'",
  limits: "limits = NULL",
  day_from: "day_from = 1",
  month_from: "month_from = 1",
  reserve_cents: "reserve_cents = reserve_cents + 5, unallocated_cents = unallocated_cents + 5",
  unallocated_cents: "unallocated_cents = unallocated_cents + 5, shortfall_cents = shortfall_cents + 5",
  available_cents: "available_cents = available_cents + 5, reserve_cents = reserve_cents + 5",
  held_cents: "held_cents = held_cents + 5, reserve_cents = reserve_cents + 5",
  shortfall_cents: "shortfall_cents = shortfall_cents + 5, reserve_cents = reserve_cents - 5",
  charges_cents: "charges_cents = charges_cents + 5, reserve_cents = reserve_cents - 5",
};

/** How to change the columns that are no numbers, or that can be empty. */
const CHANGES: Readonly<Record<string, string>> = {
  day_from: "day_from = 1",
  month_from: "month_from = 1",
  status: "status = 'FROZEN'",
  tier: "tier = 'vip'",
  deposit_reference: "deposit_reference = '00000018'",
  mac: `mac = '${"0".repeat(32)}'`,
};

/** Whether the old row has more to take than the new one, or lets its owner do more. */
function isWorthMore(old: AccountRow, row: AccountRow): boolean {
  const hasMore = old.available_cents > row.available_cents || old.held_cents > row.held_cents;
  return hasMore || old.status !== row.status || old.tier !== row.tier;
}
