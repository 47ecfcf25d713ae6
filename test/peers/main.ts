// Runs clients that generators of others make against the service, the examples in other languages,
// clients that others wrote against the simulator, the service's rail against an M-Pesa that others
// wrote, payment files beside the schemas of ISO, and the service beside a ledger that others
// wrote: `make peers`. Installs pinned packages into a temporary folder. Asks package registries,
// and sends nothing else but to the loopback. Prints a table of each, and fails where a document
// has another.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { INITIATOR_CERTIFICATE } from "../../daraja/access/initiator-key.js";
import { newOrganization } from "../../daraja/mpesa/organization.js";
import { type Daraja, startDaraja } from "../../daraja/simulator.js";
import { encrypted } from "../daraja/client.js";
import { tableUnder } from "../support/documents/table.js";
import { validateBankFiles } from "./banks.js";
import { exampleRows, EXAMPLES_HEAD } from "./examples.js";
import { generatorRows, GENERATORS_HEAD } from "./generators.js";
import { installPython, npmPeers, type Peer, pypiPeers } from "./packages.js";
import { RAIL_HEAD, railRows } from "./rail.js";

const COLUMNS = ["push", "push query", "B2C", "B2B", "status", "balance", "reversal", "register", "simulate"];
/** The last column has every call that few clients have. */
const OTHERS = "others";
const CLIENT_MILLIS_MAX = 120_000;

interface Line {
  readonly column: string;
  /** What the client returned, as JSON. */
  readonly said?: string;
  /** What it threw. */
  readonly failed?: string;
}

/** One row of the table: what became of each call. */
async function rowOf(peer: Peer, index: number, daraja: Daraja, environment: NodeJS.ProcessEnv): Promise<string[]> {
  const phone = `2547120${String(index).padStart(3, "0")}30`;
  const { number } = await daraja.deposit({ msisdn: "254712345678", amountCents: 1_000, accountReference: "x" });
  const [program = "", ...parameters] = peer.command;
  const child = spawn(program, parameters, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...environment, ...peer.env, PHONE: phone, RECEIPT: number },
    timeout: CLIENT_MILLIS_MAX,
  });
  const cells = new Map<string, string>();
  const seen = new Set(daraja.refusedRequests);
  for await (const text of createInterface(child.stdout)) {
    if (!text.startsWith("{")) continue;
    const line = JSON.parse(text) as Line;
    // The client waits a moment after each call, so no refusal of its next call is here yet.
    const newest = daraja.refusedRequests.find((one) => !seen.has(one));
    for (const one of daraja.refusedRequests) seen.add(one);
    cells.set(line.column, cellOf(line, newest));
    if (cells.get(line.column) === "yes") continue;
    const why = line.said ?? line.failed;
    process.stderr.write(`${peer.name} ${line.column}: ${JSON.stringify(why)} ${newest?.rule ?? ""}\n`);
  }
  const others = [...cells].filter(([column]) => !COLUMNS.includes(column));
  const otherCell = others.map(([column, cell]) => (cell === "yes" ? column : `${column} ${cell}`)).join(", ");
  return [`${peer.name} ${peer.version}`, ...COLUMNS.map((column) => cells.get(column) ?? ""), otherCell];
}

/** "yes", the code of the refusal, or what the client made of the refusal where it hid it. */
function cellOf({ said }: Line, refused: Daraja["refusedRequests"][number] | undefined): string {
  if (refused !== undefined) return said === undefined ? refused.errorCode : `${refused.errorCode}, hidden`;
  return said === undefined ? "its own error" : "yes";
}

/** Takes each callback. */
async function startSink(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end('{"ResultCode":0,"ResultDesc":"Accepted"}'));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => server.close() };
}

/** Runs each client against a simulator of its own run. Returns the rows of the table. */
async function clientRows(folder: string, peers: readonly Peer[]): Promise<string[][]> {
  // Some clients register at each start, some send B2C v3 without an id, and some reverse with 4.
  const settings = { c2bRegistration: "again", b2cIds: "optional", reversalIdentifierType: undefined } as const;
  const organization = newOrganization(settings);
  const daraja = await startDaraja({ organizations: [organization] });
  const sink = await startSink();
  try {
    const certificate = join(folder, "certificate.pem");
    writeFileSync(certificate, INITIATOR_CERTIFICATE);
    const environment = {
      ...process.env,
      DARAJA: daraja.url,
      CALLBACKS: sink.url,
      CERTIFICATE: certificate,
      CREDENTIAL: encrypted(organization.initiatorPassword),
      TZ: "Africa/Nairobi",
    };
    const rows: string[][] = [];
    for (const [index, peer] of peers.entries()) rows.push(await rowOf(peer, index, daraja, environment));
    return rows;
  } finally {
    sink.close();
    await daraja.close();
  }
}

function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [head, head.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** Prints a table, and fails the run where a document has another under the heading. */
function compare(head: readonly string[], rows: readonly (readonly string[])[], heading: string, page: string): void {
  print(head, rows);
  if (JSON.stringify(tableUnder(heading, page)) === JSON.stringify(rows)) return;
  process.stderr.write(`The table in ${page} is another.\n`);
  process.exitCode = 1;
}

/** The benchmark keeps the figures: docs/performance.md shows those of a clean build. */
function compareWithBlnk(): Promise<void> {
  if (process.env["BLNK"] === undefined) {
    process.stderr.write("blnk: skipped. It needs the command of Blnk in BLNK (bench/README.md).\n");
  } else {
    const { execPath: node } = process;
    const command = ["dist/test/support/with-postgres.js", node, "dist/bench/main.js", "--part", "blnk"];
    const { status } = spawnSync(node, command, { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
  return Promise.resolve();
}

const PARTS: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  generators: async (folder) => {
    compare(GENERATORS_HEAD, await generatorRows(folder), "## Generated clients", "docs/integrate.md");
  },
  examples: async (folder) => {
    print(EXAMPLES_HEAD, await exampleRows(folder));
  },
  mpesa: async (folder) => {
    const python = installPython(folder);
    const rows = await clientRows(folder, [...npmPeers(folder), ...pypiPeers(python)]);
    compare(["client", ...COLUMNS, OTHERS], rows, "## Clients of others", "docs/daraja.md");
    compare(RAIL_HEAD, await railRows(python), "## Beside an M-Pesa of others", "docs/mpesa.md");
  },
  banks: (folder) => {
    validateBankFiles(installPython(folder));
    return Promise.resolve();
  },
  blnk: compareWithBlnk,
};

async function main(names: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-peers-"));
  try {
    for (const name of names) {
      const run = PARTS[name];
      if (run === undefined) throw new Error(`${name} is none of ${Object.keys(PARTS).join(", ")}`);
      await run(folder);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const names = process.argv.slice(2);
await main(names.length === 0 ? Object.keys(PARTS) : names);
