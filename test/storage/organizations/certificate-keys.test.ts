import { expect } from "chai";

import { type ApiKey, credentialOfCertificate } from "../../../src/domain/api-key.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Keys } from "../../../src/ledger/ports/keys.js";
import { keys as openKeys } from "../../../src/storage/keys.js";
import { KeyUses } from "../../../src/storage/organizations/key-uses.js";
import { revokeApiKey } from "../../support/as-machine.js";
import { databaseOfEachTest, ENGINES, execute } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";

const NAME = "URI:spiffe://example.com/billing";
const OTHER = "DNS:billing.example.com";

for (const engine of ENGINES) {
  describe(`the keys of client certificates (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let keys: Keys;
    let a: OrganizationId;
    let b: OrganizationId;
    let clock: UnixMillis;
    beforeEach(async () => {
      clock = toUnixMillis(Date.now());
      keys = openKeys(opened.database, () => clock);
      a = (await keys.createOrganization("A")).id;
      b = (await keys.createOrganization("B")).id;
    });

    async function create(organizationId: OrganizationId, certificateName: string, expiresAt?: UnixMillis) {
      const made = await keys.createCertificateKey({
        organizationId,
        certificateName,
        scopes: ["accounts:read"],
        expiresAt,
      });
      return made.key ?? `held by ${made.holder.id}`;
    }
    async function createdKey(organizationId: OrganizationId, name: string): Promise<ApiKey> {
      const key = await create(organizationId, name);
      if (typeof key === "string") throw new Error(key);
      return key;
    }
    const found = (...names: string[]): ReturnType<Keys["apiKeyWithSecret"]> =>
      keys.apiKeyWithSecret(credentialOfCertificate(names.join(",")));

    it("are found by one of the names, and listed under it", async () => {
      const key = await createdKey(a, NAME);
      expect(key).to.deep.include({ organizationId: a, name: NAME, scopes: ["accounts:read"] });
      expect(await found(NAME)).to.deep.equal(key);
      expect(await found(OTHER, NAME)).to.deep.equal(key);
      expect(await found(OTHER)).to.equal(undefined);
      expect(await keys.apiKeys(a)).to.deep.equal([key]);
    });

    it("are none if somebody has written or changed their row past the service, which is told", async () => {
      const changed: string[] = [];
      keys = openKeys(
        opened.database,
        () => clock,
        (id) => changed.push(id),
      );
      const key = await createdKey(a, NAME);
      await execute(opened.address, `UPDATE api_keys SET organization_id = '${b}'`);
      expect(await found(NAME)).to.equal(undefined);
      expect(changed).to.deep.equal([key.id]);
    });

    it("belong to one organization at a time", async () => {
      const key = await createdKey(a, NAME);
      expect(await create(a, NAME)).to.equal(`held by ${key.id}`);
      expect(await create(b, NAME)).to.equal(`held by ${key.id}`);
      await revokeApiKey(opened.database, key.id, clock);
      expect(await found(NAME)).to.include({ id: key.id, revokedAt: clock });
      const next = await createdKey(b, NAME);
      expect(await found(NAME)).to.deep.equal(next);
    });

    it("may be made again once they have expired", async () => {
      await create(a, NAME, toUnixMillis(clock + 1_000));
      clock = toUnixMillis(clock + 1_000);
      const next = await createdKey(b, NAME);
      expect(await found(NAME)).to.deep.equal(next);
    });

    it("may be made and revoked as often as needed", async () => {
      let last: ApiKey | undefined;
      for (let time = 0; time < 18; time += 1) {
        if (last !== undefined) await revokeApiKey(opened.database, last.id, clock);
        last = await createdKey(a, NAME);
        expect(await found(NAME)).to.deep.equal(last);
      }
      expect(await keys.apiKeys(a)).to.have.length(18);
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    });

    it("identify nobody when two names of a certificate have valid keys", async () => {
      const key = await createdKey(a, NAME);
      const other = await createdKey(b, OTHER);
      expect(await found(NAME, OTHER)).to.equal(undefined);
      await revokeApiKey(opened.database, other.id, clock);
      expect(await found(NAME, OTHER)).to.deep.equal(key);
    });

    it("have no secret: neither their name nor the text of their hash is one", async () => {
      await createdKey(a, NAME);
      for (const text of [NAME, `certificate 0 ${NAME}`]) {
        expect(await keys.apiKeyWithSecret(text)).to.equal(undefined);
      }
    });

    it("know when they were used last", async () => {
      await createdKey(a, NAME);
      const uses = new KeyUses(opened.database, () => clock);
      await uses.noting(keys).apiKeyWithSecret(credentialOfCertificate(NAME));
      await uses.flush();
      expect(await found(NAME)).to.include({ lastUsedAt: clock });
    });
  });
}
