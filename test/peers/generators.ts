// Clients that generators of others make from openapi.json, each compiled and run against the
// service: whether they have all calls, keep amounts, take what later versions add, and show why a
// call was refused.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { json, text } from "node:stream/consumers";

import { OPERATIONS } from "../support/openapi/document.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";
import { type Generator, GENERATORS, installJar, type Made } from "./generator-list.js";

export const GENERATORS_HEAD = ["generator", "flags", "calls", "amount", "a new field", "the reason of a refusal"];

const SOURCES: ReadonlySet<string> = new Set([".cs", ".go", ".java", ".kt", ".py", ".rs", ".ts"]);
const CLIENT_MILLIS_MAX = 60_000;

/** What each program in `generated/` prints: what it minted and read, and why it was refused. */
interface Story {
  readonly minted: string;
  readonly whole: string;
  readonly balance: string;
  readonly refused?: string;
}

const EXACT: Story = { minted: "12345678901.23", whole: "3000000000.00", balance: "15345678901.23" };
const REASON = "INSUFFICIENT_FUNDS";

/** The rows of the table in docs/integrate.md. */
export async function generatorRows(folder: string, generators = GENERATORS): Promise<string[][]> {
  const jar = installJar(folder);
  const clients = generators.map((generator, index) => {
    const into = join(folder, `generated-${String(index)}`);
    mkdirSync(into);
    return { generator, made: madeBy(generator, jar, into) };
  });
  const service = await startInProcess("sqlite");
  const later = await startLater(`http://${service.address}`);
  try {
    const rows: string[][] = [];
    for (const { generator, made } of clients) {
      const cells = typeof made === "string" ? [made, "", "", ""] : await cellsOf(generator, made, service, later.url);
      rows.push([generator.name, generator.flags === "" ? "" : `\`${generator.flags}\``, ...cells]);
    }
    return rows;
  } finally {
    later.close();
    await service.dispose();
  }
}

/** Generates and compiles a client. Returns why there is none. */
function madeBy(generator: Generator, jar: string, into: string): Made | string {
  const missing = generator.needs.find((program) => spawnSync("which", [program]).status !== 0);
  if (missing !== undefined) return `not run: no ${missing}`;
  process.stderr.write(`${generator.name} ${generator.flags}\n`);
  try {
    return generator.make({ jar, into });
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    return "does not compile";
  }
}

async function cellsOf({ name, flags, refusal }: Generator, made: Made, service: InProcess, laterUrl: string) {
  const calls = callsIn(made.sources);
  if (made.command === undefined) return [calls, made.amount, "", ""];
  const run = (url: string, user: string): Promise<Story | undefined> =>
    storyOf(made.command ?? [], { KESC_URL: url, KESC_API_KEY: service.a.key, KESC_USER: `${name} ${flags} ${user}` });
  const now = await run(`http://${service.address}`, "now");
  const then = await run(laterUrl, "later");
  return [
    calls,
    isExact(now) ? made.amount : "wrong",
    isExact(then) ? "ignored" : "an error",
    now?.refused === REASON ? `\`${refusal}\`` : "hidden",
  ];
}

function isExact(story: Story | undefined): boolean {
  return (["minted", "whole", "balance"] as const).every((name) => story?.[name] === EXACT[name]);
}

async function storyOf([program = "", ...parameters]: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(program, parameters, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
    timeout: CLIENT_MILLIS_MAX,
  });
  const [said] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (!said.startsWith("{")) return undefined;
  process.stderr.write(`${env["KESC_USER"] ?? ""}: ${said}`);
  return JSON.parse(said) as Story;
}

/** How many of the operations the sources have, such as "all" or "37 of 48". */
function callsIn(sources: string): string {
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter(
    (file) => SOURCES.has(extname(file)) && !file.includes("node_modules"),
  );
  const source = files.map((file) => readFileSync(join(sources, file), "utf8")).join("\n");
  const missing = OPERATIONS.map(({ operation }) => operation.operationId).filter((id) => {
    const words = id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_?");
    return !new RegExp(`(?<![a-z])${words}(Async)?\\s*[(<=:]`, "i").test(source);
  });
  if (missing.length === 0) return "all";
  process.stderr.write(`${sources} lacks ${missing.join(", ")}\n`);
  return `${String(OPERATIONS.length - missing.length)} of ${String(OPERATIONS.length)}`;
}

/** The gateway of a later version: each object that it returns has one more field. */
async function startLater(gateway: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "", url = "", headers } = request;
      const body = method === "GET" ? null : JSON.stringify(await json(request));
      const passed = { "x-api-key": String(headers["x-api-key"]), "content-type": "application/json" };
      const answer = await fetch(gateway + url, { method, headers: passed, body });
      const type = answer.headers.get("content-type") ?? "";
      response.writeHead(answer.status, { "content-type": type });
      response.end((await answer.text()).replace("{", '{"added_later":"a text",'));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => server.close() };
}
