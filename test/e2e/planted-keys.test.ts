import { createHash, randomBytes } from "node:crypto";

import { expect } from "chai";

import { revokeApiKey } from "../support/as-machine.js";
import { execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { describeEachEngine, expectBooksHold, fresh, newAccount, newKey } from "../support/service/each-engine.js";
import { withKeys } from "../support/service/tenants.js";

function sha256(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

// Somebody with the database alone, while a server runs. Each key that a server takes is one that
// the service made (docs/adr/0072).
describeEachEngine("an API key that was written past the service", (service) => {
  const sql = <Row>(statement: string): Promise<Row[]> => {
    const url = service().databaseUrl;
    const address = url.startsWith("sqlite:")
      ? ({ engine: "sqlite", filename: url.slice("sqlite:".length) } as const)
      : ({ engine: "postgres", url } as const);
    return execute<Row>(address, statement);
  };
  const mint = async (accountId: string, key: string): Promise<number> => {
    const body = { account_id: accountId, amount: "12345.00", reference: fresh("planted") };
    return (await service().rest("POST", "/transactions/mint", { key, body })).status;
  };
  it("mints nothing: a new row, another secret in a real row, more scopes, and a revocation taken back", async () => {
    const accountId = await newAccount(service());
    const secret = `kesc_0_${randomBytes(32).toString("base64url")}`;
    const own = sha256(secret);
    const real = await newKey(service());
    const reader = await newKey(service(), { scopes: ["accounts:read"] });
    const revoked = await newKey(service());
    await withKeys(service().databaseUrl, (_, database) => revokeApiKey(database, revoked.id));
    const [row] = await sql<{ revoked_at: number; revoked_seq: number }>(
      `SELECT revoked_at, revoked_seq FROM api_keys WHERE id = '${revoked.id}'`,
    );
    const changes: readonly (readonly [change: string, presented: string, keyId: string, undo: string])[] = [
      [
        `INSERT INTO api_keys (id, organization_id, name, secret_sha256, scopes, seq, created_at, mac)
         SELECT 'key_planted', organization_id, name, '${own}', scopes, seq, created_at, mac
         FROM api_keys WHERE id = '${real.id}'`,
        secret,
        "key_planted",
        "DELETE FROM api_keys WHERE id = 'key_planted'",
      ],
      [
        `UPDATE api_keys SET secret_sha256 = '${own}' WHERE id = '${real.id}'`,
        secret,
        real.id,
        `UPDATE api_keys SET secret_sha256 = '${sha256(real.secret)}' WHERE id = '${real.id}'`,
      ],
      [
        `UPDATE api_keys SET scopes = 'accounts:read transactions:write' WHERE id = '${reader.id}'`,
        reader.secret,
        reader.id,
        `UPDATE api_keys SET scopes = 'accounts:read' WHERE id = '${reader.id}'`,
      ],
      [
        `UPDATE api_keys SET revoked_at = NULL, revoked_seq = NULL WHERE id = '${revoked.id}'`,
        revoked.secret,
        revoked.id,
        `UPDATE api_keys SET revoked_at = ${String(row?.revoked_at)}, revoked_seq = ${String(row?.revoked_seq)}
         WHERE id = '${revoked.id}'`,
      ],
    ];
    for (const [change, presented, keyId, undo] of changes) {
      await sql(change);
      expect(await mint(accountId, presented), change).to.equal(401);
      const line = new RegExp(`"key_id":"${keyId}".*changed past the service`);
      await eventually(() => line.test(service().printed()));
      await sql(undo);
    }
    expect(await mint(accountId, real.secret)).to.equal(201);
    await expectBooksHold(service());
  });

  it("redeems nothing of a balance that was raised, and one line of the log names the account", async () => {
    const accountId = await newAccount(service());
    const { secret: key } = await newKey(service());
    const raised = (cents: number): Promise<unknown> =>
      sql(`UPDATE accounts SET available_cents = available_cents + ${String(cents)} WHERE id = '${accountId}'`);
    const redeem = async (): Promise<unknown> => {
      const body = { account_id: accountId, amount: "50.00", reference: fresh("raised") };
      const { status, json: problem } = await service().rest("POST", "/transactions/redeem", { key, body });
      return { status, ...(problem as object) };
    };
    await raised(5_000);
    for (let times = 0; times < 2; times += 1) {
      expect(await redeem()).to.include({ status: 422, code: "ROW_CHANGED", resource_id: accountId });
    }
    const lines = (): readonly string[] =>
      service()
        .printed()
        .split("\n")
        .filter((line) => line.includes(accountId) && /"level":"error".*changed past the service/.test(line));
    await eventually(() => lines().length > 0);
    expect(lines()).to.have.length(1);
    await raised(-5_000);
    expect(await redeem()).to.include({ status: 422, code: "INSUFFICIENT_FUNDS" });
    await expectBooksHold(service());
  });
});
