import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { keys } from "../../src/storage/keys.js";
import { bookProposals } from "../../src/storage/operators/book-proposals.js";
import { correctBook, newProposalId, rejectProposal } from "../support/commands.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";

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

    it("that somebody wrote into the database can be approved by nobody", async () => {
      expect(await commit(correct("forged", "mallory"), 6)).to.equal("done");
      await execute(opened.address, "UPDATE proposals SET person = 'amina' WHERE subject LIKE '%:forged'");
      // It is a new proposal, and not the approval of one.
      expect(await commit(correct("forged", "mallory"), 6)).to.equal("done");
      expect((await waiting("forged"))?.decided).to.equal(undefined);
    });
  });
}
