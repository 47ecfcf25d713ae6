import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { verify } from "../../../src/verify/verify.js";
import { execute, openDatabaseAt } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";
import { migrateCells, Minter } from "../../support/postgres/cells.js";

const CELLS = 4;
const SERVERS = 3;
const BATCH = 200;
const MINTS = Number(process.env["KESC_TEST_CITUS_MINTS"] ?? 20_000);
const MINUTES_MAX = 30;

// The URL of an empty database on the coordinator of a Citus cluster with schema-based sharding
// (docs/many-organizations.md). No package brings Citus, so there is no test without the variable.
const url = process.env["KESC_TEST_CITUS"];
if (url !== undefined) testOnCitus(url);

function testOnCitus(url: string): void {
  it("four cells on Citus keep every mint while a cell moves to another node", async function () {
    this.timeout(MINUTES_MAX * 60_000);
    const address = { engine: "postgres", url, connectionsMax: 1, masterKeyFile: "" } as const;
    await migrateCells(url, CELLS);
    const servers = await Promise.all(Array.from({ length: SERVERS }, () => openDatabaseAt(url)));
    try {
      const [first] = servers;
      if (first === undefined) throw new Error("there is no server");
      const minters: Minter[] = [];
      for (let cell = 0; cell < CELLS; cell += 1)
        minters.push(await Minter.create(first, `cell ${String(cell)}`, cell));

      const rounds = Math.ceil(MINTS / (BATCH * CELLS));
      const importing = (async () => {
        for (let round = 0; round < rounds; round += 1) {
          const server = servers[round % SERVERS] ?? first;
          await Promise.all(minters.map((minter) => minter.mint(server, BATCH)));
        }
      })();
      await sleep(500);
      const [from, to] = await moveCell(address);
      await importing;

      expect(from).to.not.equal(to);
      for (const { minted } of minters) expect(minted).to.equal(rounds * BATCH);
      const { coverage } = await verify(first);
      expect(await findingsIn(first)).to.deep.equal([]);
      expect(coverage.transactions).to.equal(rounds * BATCH * CELLS);
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  });
}

type Address = Parameters<typeof execute>[0];

/** Moves the schema of cell 0 to another node. Returns the ports of the two nodes. */
async function moveCell(address: Address): Promise<readonly [number, number]> {
  const from = await portOfCell(address);
  const [other] = await execute<{ nodename: string; nodeport: number }>(
    address,
    `SELECT nodename, nodeport FROM pg_dist_node
     WHERE noderole = 'primary' AND groupid <> 0 AND nodeport <> ${String(from)} LIMIT 1`,
  );
  if (other === undefined) throw new Error("the cluster has only one worker");
  await execute(address, `SELECT citus_schema_move('kesc_0', '${other.nodename}', ${String(other.nodeport)})`);
  return [from, await portOfCell(address)];
}

async function portOfCell(address: Address): Promise<number> {
  const [row] = await execute<{ nodeport: number }>(
    address,
    `SELECT DISTINCT nodeport FROM citus_shards WHERE table_name = 'kesc_0.journal'::regclass`,
  );
  if (row === undefined) throw new Error("the schema kesc_0 is not placed: turn on citus.enable_schema_based_sharding");
  return row.nodeport;
}
