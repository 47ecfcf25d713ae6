import { expect } from "chai";

import { ENGINES } from "../../support/databases.js";
import { newAccount } from "../../support/service/each-engine.js";
import { Service } from "../../support/service/service.js";

type Exported = Readonly<Record<string, Record<string, unknown> | string>>;

for (const engine of ENGINES) {
  describe(`kesc account export (${engine})`, () => {
    let service: Service;
    let accountId: string;
    before(async () => {
      service = await Service.start(engine);
      await newAccount(service, "7.00");
      const { json } = await service.rest("POST", "/accounts", {
        body: { user_id: "wanjiku", phone_number: "0798765432", email: "wanjiku@example.com" },
      });
      accountId = String(json["id"]);
      const body = { account_id: accountId, amount: 5, reference: "deposit", metadata: { till: "4" } };
      await service.rest("POST", "/transactions/mint", { body });
      const till = { kind: "till", number: "5432321", label: "shop" };
      await service.rest("POST", `/accounts/${accountId}/destinations`, { body: till });
    });
    after(() => service.dispose());

    const run = (...args: string[]): ReturnType<Service["kesc"]> => service.kesc("account", "export", ...args);

    it("prints one JSON object on each line, with what is stored and nothing else", async () => {
      const { code, stdout } = await run(accountId, "--org", "A", "--json");
      expect(code).to.equal(0);
      const lines = stdout.split("\n").slice(0, -1);
      const [account, destination, transaction, ...journal] = lines.map((line) => JSON.parse(line) as Exported);
      expect(account?.["type"]).to.equal("account");
      expect(account?.["account"]).to.include({
        id: accountId,
        user_id: "wanjiku",
        phone_number: "+254798765432",
        email: "wanjiku@example.com",
        status: "active",
        available_balance: "5.00",
        held_balance: "0.00",
      });
      expect(destination?.["type"]).to.equal("destination");
      const till = { kind: "till", label: "shop", masked_number: "****321", rail_name: null };
      expect(destination?.["destination"]).to.include(till);
      expect(transaction?.["type"]).to.equal("transaction");
      expect(transaction?.["transaction"]).to.deep.include({
        type: "mint",
        status: "completed",
        amount: "5.00",
        reference: "deposit",
        metadata: { till: "4" },
        rail: "direct",
      });
      const rows = journal.map(({ type, journal: row }) => [type, (row as Record<string, unknown>)["type"]]);
      expect(rows).to.deep.equal([
        ["journal", "destination.created"],
        ["journal", "transaction.completed"],
        ["journal", "account.created"],
      ]);
      const [, { journal: minted } = {}] = journal;
      const posting = { debit_account: "reserve", credit_account: "available", amount: "5.00" };
      expect(minted).to.include({ account_id: accountId, ...posting });
      expect((minted as Record<string, unknown>)["content_hash"]).to.match(/^[0-9a-f]{64}$/);
    });

    it("prints the same for people", async () => {
      const { code, stdout } = await run(accountId, "--org", service.a.organizationId);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^account\n {2}id: acc_.*\n {2}user_id: wanjiku\n {2}phone_number: \+254798765432\n/);
      expect(stdout.match(/^(account|destination|transaction|journal)$/gm)).to.deep.equal([
        "account",
        "destination",
        "transaction",
        "journal",
        "journal",
        "journal",
      ]);
    });

    it("refuses an account of another organization, and what is no id", async () => {
      const other = await run(accountId, "--org", "B", "--json");
      expect(other).to.include({ code: 1, stdout: "" });
      expect(other.stderr).to.equal(`Account ${accountId} was not found.\n`);
      const unknown = await run("wanjiku", "--org", "A");
      expect(unknown).to.include({ code: 1, stdout: "" });
      expect(unknown.stderr).to.match(/^Account wanjiku was not found\./);
      const wrong = await run("wan\njiku", "--org", "A");
      expect(wrong).to.include({ code: 2, stdout: "" });
      expect(wrong.stderr).to.match(/^The id of the account must be printable/);
    });
  });
}
