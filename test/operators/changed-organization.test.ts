import { expect } from "chai";

import { booksOf } from "../../src/cli/move/places.js";
import { findOwner } from "../../src/cli/organizations.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { readOperatorsAddress } from "../../src/grpc/messages/contract.js";
import { keys } from "../../src/storage/keys.js";
import type { GrpcCaller, Method } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { kesc } from "../support/service/kesc.js";
import { makeTenant } from "../support/service/tenants.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const RPCS = readOperatorsAddress().services.flatMap(({ rpcs }) => rpcs);
const OF_ORGANIZATIONS = RPCS.filter(({ isOfOrganization }) => isOfOrganization);
const bare = (path: string): Method<object, Buffer> => ({
  path,
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: (bytes) => bytes,
});

for (const engine of ENGINES) {
  // Somebody with the database alone swaps the names of two live organizations.
  describe(`an organization whose row was changed past the service (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let alice: GivenOperator;
    let ids: readonly OrganizationId[] = [];

    const sql = (statement: string): Promise<unknown> => execute(service.opened.address, statement);
    const named = async (names: readonly string[]): Promise<void> => {
      for (const [index, name] of names.entries())
        await sql(`UPDATE organizations SET name = '${name}' WHERE id = '${String(ids[index])}'`);
    };

    before(async () => {
      service = await startOperatorService(engine, { environment: { KESC_FOUR_EYES: "none" } });
      [admin] = service.admin;
      alice = await service.operator("Alice", "admin", "finance", "support");
      const own = keys(service.opened.database, () => toUnixMillis(Date.now()));
      const made = [await makeTenant(own, "Duka"), await makeTenant(own, "Soko")];
      ids = made.map(({ organizationId }) => organizationId);
      await named(["Soko", "Duka"]);
    });
    after(async () => {
      await named(["Duka", "Soko"]);
      await service.dispose();
    });

    it("is shown as changed in the lists, beside the others", async () => {
      const { response } = await admin.call(Rpcs.listOrganizations, {}, alice);
      const organizations = response?.organizations.map(({ id, changed }) => [id, changed]);
      const books = (await admin.call(Rpcs.listBooks, {}, alice)).response?.books;
      const expected = [[service.tenant.organizationId, false], ...ids.map((id) => [id, true])];
      expect(organizations).to.have.deep.members(expected);
      expect(books?.map(({ organization_id: id, changed }) => [id, changed])).to.have.deep.members(expected);
    });

    it("is refused by each rpc about it, and no row is written", async () => {
      const count = () => sql("SELECT COUNT(*) AS n FROM journal");
      const before = await count();
      for (const id of ids) {
        for (const { path } of OF_ORGANIZATIONS) {
          const { reason, facts } = await admin.call(bare(path), {}, { key: alice.key, organization: id });
          expect([reason, facts], path).to.deep.equal(["ORGANIZATION_CHANGED", { organization_id: id }]);
        }
      }
      expect(await count()).to.deep.equal(before);
    });

    it("is acted on by no name: not at a server, and not on the database", async () => {
      const environment = {
        KESC_OPERATOR_SERVER: service.servers[0].operatorAddress ?? "",
        KESC_OPERATOR_KEY: alice.key,
      };
      const suspended = await kesc(["org", "suspend", "Duka", "--note", "fraud", "--yes"], environment);
      expect(suspended.code).to.equal(1);
      expect(suspended.stderr).to.match(/The row of the organization org_\S+ was changed in the database/);
      const supply = await kesc(["supply"], environment);
      expect([supply.code, supply.stdout]).to.deep.equal([0, supply.stdout]);
      for (const id of ids) {
        expect(supply.stdout).not.to.include(id);
        expect(supply.stderr).to.include(`${id} is left out`);
      }
      const { database } = service.opened;
      for (const find of [findOwner, booksOf]) {
        for (const name of ["Duka", ...ids]) {
          const error: unknown = await find(database, name).catch((thrown: unknown) => thrown);
          expect(String(error)).to.match(/was changed in the database/);
        }
      }
    });
  });
}
