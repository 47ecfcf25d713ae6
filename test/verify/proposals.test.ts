import { expect } from "chai";

import type { CorrectBook } from "../../src/domain/book/correct-book.js";
import type { Command } from "../../src/domain/operations.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { commitBatch } from "../../src/ledger/commit-batch.js";
import type { LedgerStore } from "../../src/ledger/ports/store.js";
import { keys } from "../../src/storage/keys.js";
import { bookProposals } from "../../src/storage/operators/book-proposals.js";
import { ledgerStore } from "../../src/storage/sql/ledger-store.js";
import { by } from "../support/commands.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { asShown } from "../support/decided.js";
import { findingsIn } from "../support/findings.js";
import { newProposalId } from "../support/names.js";
import { rejectProposal, setReserveRules } from "../support/operations/book.js";
import { correctBook } from "../support/operations/corrections.js";

for (const engine of ENGINES) {
  describe(`the proposals of a book (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let organizationId: OrganizationId;
    const begin = Date.now() - 10 * 86_400_000;
    before(async () => {
      organizationId = (await keys(opened.database, () => toUnixMillis(begin)).createOrganization("Acme")).id;
    });

    const commit = async (command: Command, days: number): Promise<string | undefined> => {
      const [result] = await opened.cell.committer.commit([command], toUnixMillis(begin + days * 86_400_000));
      return result?.kind === "done" ? (result.replayed ? "replayed" : "done") : JSON.stringify(result);
    };
    const correct = (key: string, person = "amina"): Command =>
      correctBook("bookReceipt", organizationId, { amountCents: 100, key, target: key, person });
    const all = { afterId: undefined, size: 1_001, waits: undefined, now: toUnixMillis(begin) };
    const waiting = async (key: string) =>
      (await bookProposals(opened.cell, all)).find(({ proposal }) => proposal.subject.endsWith(`:${key}`))?.proposal;
    const findings = async (): Promise<unknown> => findingsIn(opened.database);

    it("can be made again, equal, after a rejection and after a lapse, and then be approved", async () => {
      for (const [key, again] of [
        ["rejected", 1],
        ["lapsed", 5],
      ] as const) {
        expect(await commit(correct(key), 1)).to.equal("done");
        expect(await commit(correct(key), 1)).to.equal("replayed");
        const first = await waiting(key);
        const id = first?.id ?? newProposalId();
        if (again === 1) expect(await commit(rejectProposal(organizationId, id, first?.subject), 1)).to.equal("done");
        expect(await findings()).to.deep.equal([]);
        expect(await commit(correct(key), again)).to.equal("done");
        expect((await waiting(key))?.id).not.to.equal(id);
        expect(await findings()).to.deep.equal([]);
        expect(await commit(correct(key, "brian"), again)).to.equal("done");
        expect((await waiting(key))?.decided?.as).to.equal("APPROVED");
        expect(await findings()).to.deep.equal([]);
      }
    });

    describe("that was rejected, and whose row somebody has put back", () => {
      const statements = (key: string, table: string) => {
        const own = `subject LIKE '%:${key}'`;
        return {
          keep: `CREATE TABLE ${table} AS SELECT * FROM proposals WHERE ${own}`,
          putBack: [
            `DELETE FROM proposals WHERE ${own}`,
            `INSERT INTO proposals SELECT * FROM ${table}`,
            `DROP TABLE ${table}`,
          ],
        };
      };
      const run = async (...sqls: readonly string[]): Promise<void> => {
        for (const sql of sqls) await execute(opened.address, sql);
      };
      /** Proposes and rejects it, and puts its waiting row back. Returns its approval. */
      const putBack = async (key: string): Promise<Command> => {
        expect(await commit(correct(key), 7)).to.equal("done");
        const { id = newProposalId(), subject, content = "" } = (await waiting(key)) ?? {};
        const { keep, putBack } = statements(key, "waiting_row");
        await run(keep);
        expect(await commit(rejectProposal(organizationId, id, subject), 7)).to.equal("done");
        await run(statements(key, "rejected_row").keep, ...putBack);
        const command = correct(key, "brian") as CorrectBook;
        return asShown({ ...command, authority: { ...command.authority, approves: id } }, content);
      };

      it("stays closed, and is found", async () => {
        const approval = await putBack("closed");
        expect(await commit(approval, 7))
          .to.include('"reason":"PROPOSAL_CLOSED"')
          .and.to.include('"state":"REJECTED"');
        expect(JSON.stringify(await findings())).to.match(/decision REJECTED/);
        // The same command of another person is a new proposal.
        expect(await commit(correct("closed", "brian"), 7)).to.equal("done");
        expect(await waiting("closed")).to.include({ person: "brian", decided: undefined });
        await run("DROP TABLE rejected_row");
        expect(JSON.stringify(await findings())).not.to.include(":closed");
      });

      const blindly = async (command: Command): Promise<void> => {
        const { engine, transact, directory } = opened.cell;
        const store = ledgerStore(engine, transact, directory);
        const blind: LedgerStore = {
          transact: (work) =>
            store.transact((inside) =>
              work({
                load: async (lookup) => ({ ...(await inside.load(lookup)), decidingRows: [] }),
                save: (changes) => inside.save(changes),
              }),
            ),
        };
        const [result] = await commitBatch(blind, [command], toUnixMillis(begin + 7 * 86_400_000));
        expect(result?.kind).to.equal("done");
      };

      it("is found if a server did an outdated one without a look", async () => {
        const rule = { kind: "bank_kenya", shareMin: 20, staleAfterDays: 7 } as const;
        const ask = setReserveRules(organizationId, [rule]);
        const command = { ...ask, ...by("opr_a") };
        const { newProposalId: id } = command.authority;
        expect(await commit(command, 7)).to.equal("done");
        const all = { id } as const;
        const content = (await bookProposals(opened.cell, all))[0]?.proposal.content ?? "";
        expect(await commit(ask, 7)).to.equal("done");
        expect(await commit(setReserveRules(organizationId, []), 7)).to.equal("done");
        await blindly(asShown({ ...ask, ...by("opr_b", { approves: id }) }, content));
        expect(JSON.stringify(await findings())).to.match(/no approval after reserve\.rules_set in row \d+/);
      });

      it("is found by the act of a server that did not look, also once the rejected row is there again", async () => {
        await blindly(await putBack("blind"));
        await run(...statements("blind", "rejected_row").putBack);
        expect(JSON.stringify(await findings())).to.match(/no row after book\.proposal_rejected in row \d+/);
      });
    });

    it("that somebody wrote into the database can be approved by nobody", async () => {
      expect(await commit(correct("forged", "mallory"), 6)).to.equal("done");
      await execute(opened.address, "UPDATE proposals SET person = 'amina' WHERE subject LIKE '%:forged'");
      // It is a new proposal, and not the approval of one.
      expect(await commit(correct("forged", "mallory"), 6)).to.equal("done");
      expect((await waiting("forged"))?.decided).to.equal(undefined);
    });
  });
}
