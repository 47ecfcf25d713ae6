import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { keys } from "../../src/storage/keys.js";
import { storedRailAccounts } from "../../src/storage/rails/rail-accounts.js";
import { reads } from "../../src/storage/reads.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { createAccount, createDestination, removeDestination, updateAccount } from "../support/operations/accounts.js";
import { mint, redeem } from "../support/operations/transactions.js";

const now = toUnixMillis(Date.now());

for (const engine of ENGINES) {
  // A caller who repeats such a call gets the same for ever: it is no failure of the database.
  describe(`a row that somebody has made unreadable (${engine})`, () => {
    const opened = databaseOfSuite(engine);

    const failure = async (work: Promise<unknown>): Promise<string> => {
      const error: unknown = await work.catch((thrown: unknown) => thrown);
      if (!(error instanceof StoreError)) return String(error);
      return `${error.kind}: ${error.cause instanceof Error ? error.cause.message : ""}`;
    };

    it("rejects the commands and the reads that need it, once for all, and names it", async () => {
      const { id: organizationId } = await keys(opened.database, () => now).createOrganization("rows");
      const account = createAccount(organizationId, "wanjiku");
      const { newAccountId: accountId } = account;
      const destination = createDestination(organizationId, accountId);
      const { newDestinationId: destinationId } = destination;
      const first = mint({ organizationId, accountId, amount: "5.00", reference: "first" });
      const commit = (command: Command): Promise<unknown> => opened.cell.committer.commit([command], now);
      for (const command of [account, destination, first]) await commit(command);
      const read = reads(opened.cell);
      const again = mint({ organizationId, accountId, amount: "5.00", reference: "first" });
      const out = redeem({ organizationId, accountId, amount: "1.00", reference: "out" });
      const book = `number = (SELECT number FROM books WHERE organization_id = '${organizationId}')`;
      const changes: readonly (readonly [set: string, row: string, work: () => Promise<unknown>, words: RegExp])[] = [
        [
          "destinations SET number = masked",
          `id = '${destinationId}'`,
          () => commit(removeDestination(organizationId, accountId, destinationId)),
          new RegExp(`^rejected: number of ${destinationId} cannot be read: the row was changed past the service`),
        ],
        [
          "account_holders SET phone_number = email",
          `account_id = '${accountId}'`,
          () => commit(updateAccount(organizationId, accountId, { email: "a@example.com" as never })),
          new RegExp(`^rejected: phone_number of ${accountId} cannot be read`),
        ],
        [
          "account_holders SET phone_number = email",
          `account_id = '${accountId}'`,
          () => read.account(organizationId, accountId),
          new RegExp(`^UnreadableRowError: phone_number of ${accountId} cannot be read`),
        ],
        [
          "transactions SET metadata = '{a'",
          `id = '${first.newTransactionId}'`,
          () => commit(again),
          new RegExp(`^rejected: metadata of ${first.newTransactionId} cannot be read`),
        ],
        ["books SET limits = '{a', limits_since = 1", book, () => commit(out), /^rejected: limits in a row of books/],
      ];
      for (const [set, row, work, words] of changes) {
        const bytes = engine === "sqlite" ? "x'00'" : "'\\x00'::bytea";
        await execute(opened.address, `UPDATE ${set.replace("number = masked", `number = ${bytes}`)} WHERE ${row}`);
        expect(await failure(work()), set).to.match(words);
      }
    });

    it("takes no other account at a rail along", async () => {
      const { id } = await keys(opened.database, () => now).createOrganization("rails", { isSandbox: true });
      await execute(
        opened.address,
        `INSERT INTO rail_accounts (id, organization_id, rail, settings, payouts, payouts_reason, is_usual,
           begin_within_millis, confirm_above_cents, resolve_alone_max_cents, warnings, created_at, updated_at, mac)
         SELECT 'rail_planted', id, 'sandbox', '{}', 'open', '', 1, 5, 0, 0, '{a', 1, 1, mac FROM organizations
         WHERE id = '${id}'`,
      );
      expect((await storedRailAccounts(opened.cell))[0]).to.include({ isWhole: false, payouts: "closed" });
    });
  });
}
