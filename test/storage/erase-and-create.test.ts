import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { keys } from "../../src/storage/keys.js";
import { reads } from "../../src/storage/reads.js";
import { commitAll } from "../support/commit.js";
import { databaseOfEachTest, ENGINES } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { NOW } from "../support/names.js";
import { createAccount, eraseAccount } from "../support/operations/accounts.js";

// A batch writes each row once, with its last values. So the rows of one batch may be in the way of
// each other, although each command alone is fine.

for (const engine of ENGINES) {
  describe(`an erasure beside the creation of accounts (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let organizationId: OrganizationId;
    beforeEach(async () => {
      ({ id: organizationId } = await keys(opened.database, () => NOW).createOrganization("erasures"));
    });

    const commit = (...commands: readonly Command[]): Promise<void> => commitAll(opened.cell, commands, NOW);

    async function expectOnly(first: string, second: string): Promise<void> {
      const { rows } = await reads(opened.cell).accounts(organizationId, {}, { size: 9, beforeSeq: undefined });
      expect(rows.map(({ id, person }) => [id, person?.userId])).to.deep.equal([
        [second, "user"],
        [first, undefined],
      ]);
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    }

    const pair = () => [createAccount(organizationId, "user"), createAccount(organizationId, "user")] as const;

    it("frees the user_id for a new account of the same batch", async () => {
      const [first, second] = pair();
      await commit(first);
      await commit(eraseAccount(organizationId, first.newAccountId), second);
      await expectOnly(first.newAccountId, second.newAccountId);
    });

    it("erases an account that the same batch creates", async () => {
      const [first, second] = pair();
      await commit(first, eraseAccount(organizationId, first.newAccountId), second);
      await expectOnly(first.newAccountId, second.newAccountId);
    });
  });
}
