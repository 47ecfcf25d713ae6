import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { ProposalState } from "../../src/gen/kesc/admin/v1/resources.js";
import { ReserveKind } from "../../src/gen/kesc/v1/supply.js";
import type { Database } from "../../src/storage/database.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import { verify } from "../../src/verify/verify.js";
import { type GivenOperator, makeOperator } from "../operators/given.js";
import { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, openDatabaseAt } from "../support/databases.js";
import { freePort } from "../support/postgres-node.js";
import { Service } from "../support/service/service.js";

const NO_TERMS = { kind: ReserveKind.RESERVE_KIND_UNSPECIFIED, document_sha256: "", matures_on: "" };

/** How long after a call the server is killed. The call takes some milliseconds. */
const KILL_MILLIS = [0, 2, 5, 10, 20];
const ALL = { include_closed: true, page_size: 1_000, page_token: "" };

for (const engine of ENGINES) {
  describe(`two persons at a server that is killed with -9 (${engine})`, () => {
    let service: Service;
    let database: Database;
    let operatorAddress: string;
    let admin: GrpcCaller;
    let fin: GivenOperator;
    let bob: GivenOperator;

    before(async () => {
      operatorAddress = `127.0.0.1:${String(await freePort())}`;
      const policy = { KESC_OPERATOR_ADDRESS: operatorAddress, KESC_FOUR_EYES: "reserve" };
      service = await Service.start(engine, policy);
      admin = new GrpcCaller(operatorAddress);
      database = await openDatabaseAt(service.databaseUrl);
      const now = () => toUnixMillis(Date.now());
      const stored = new StoredAdministration(database, { now, fourEyes: new Set() });
      fin = await makeOperator(stored, "Fin", ["finance"]);
      bob = await makeOperator(stored, "Bob", ["approver"]);
    });
    after(async () => {
      admin.close();
      await database.close();
      await service.dispose();
    });

    /** Makes a call, and kills the server meanwhile. The next call meets a new server. */
    async function killAmid(call: () => Promise<unknown>, millis: number): Promise<void> {
      const answer = call();
      await sleep(millis);
      await service.kill();
      await answer;
      await service.start();
      admin.close();
      admin = new GrpcCaller(operatorAddress);
    }

    for (const millis of KILL_MILLIS) {
      it(`do it once, although it died ${String(millis)} ms after the proposal and after the approval`, async () => {
        const place = `bank ${String(millis)}`;
        const figure = { place, amount: "1.00", as_of_day: "2025-12-31", evidence: "page 1", note: "", ...NO_TERMS };
        const organization_id = service.a.organizationId;
        const propose = () => admin.call(Rpcs.recordReserve, { organization_id, ...figure }, fin);
        await killAmid(propose, millis);
        const { proposalId: proposal_id = "", message } = await propose();
        expect(proposal_id, message).to.match(/^prp_/);
        const approve = () => admin.call(Rpcs.approveProposal, { proposal_id, note: "" }, bob);
        await killAmid(approve, millis);
        expect((await approve()).code).to.equal(0);
        // Done already, or approved by the repeat: never both.
        expect((await propose()).replayed).to.equal(true);
        const { response: listed } = await admin.call(Rpcs.listProposals, ALL, bob);
        const about = listed?.proposals.filter(({ content }) => content.includes(place)) ?? [];
        expect(about.map(({ state }) => state)).to.deep.equal([ProposalState.PROPOSAL_STATE_APPROVED]);
        const { response: acts } = await admin.call(
          Rpcs.listJournal,
          { organization_id, own: true, page_size: 1_000, page_token: "" },
          bob,
        );
        const done = acts?.entries.filter(({ line }) => line?.type === "reserve.recorded") ?? [];
        expect(done).to.have.length(1 + KILL_MILLIS.indexOf(millis));
        expect(done[0]?.line?.actor).to.equal(`${fin.operator.id},${bob.operator.id}`);
        expect((await verify(database)).firstFindings).to.deep.equal([]);
      });
    }
  });
}
