import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { REPOSITORY } from "../options.js";
import { type Program, start, stop } from "../servers.js";
import { type Service, startService } from "../service.js";
import type { Options } from "./options.js";

export const OUT = join(REPOSITORY, "bench/out");

/**
 * What every part needs: the programs that run throughout, a folder of its own, and the list of
 * what went wrong.
 */
export class Stage {
  readonly options: Options;
  /** On the disk that holds the checkout: a folder in memory would make every commit look cheap. */
  readonly folder: string;
  readonly #running: Program[] = [];
  readonly #problems = new Map<string, number>();
  #loader: Program | undefined;
  #echo: Program | undefined;

  constructor(options: Options) {
    this.options = options;
    mkdirSync(OUT, { recursive: true });
    this.folder = mkdtempSync(join(OUT, "full-"));
  }

  /** Starts the load process and the yardstick. */
  async open(): Promise<void> {
    const run = (name: string, file: string): Promise<Program> =>
      start({ name, entry: [process.execPath, join(import.meta.dirname, "..", file)], logFolder: this.folder });
    this.#loader = this.keep(await run("load", "load/main.js"));
    this.#echo = this.keep(await run("grpc-echo", "echo/grpc-echo.js"));
  }

  get loader(): Program {
    return opened(this.#loader);
  }

  /** A grpc-js server whose handler does nothing. */
  get echo(): Program {
    return opened(this.#echo);
  }

  /** Sees to it that the program is stopped at the end, if not before. */
  keep(program: Program): Program {
    this.#running.push(program);
    return program;
  }

  /** A service on a database of its own: on SQLite, or on the empty database that is named. */
  startService(name: string, options: { databaseUrl?: string; env?: Record<string, string> } = {}): Promise<Service> {
    const { databaseUrl, env = {} } = options;
    return startService({
      name,
      kesc: this.options.kesc,
      folder: this.folder,
      env,
      keep: (program) => this.keep(program),
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
    });
  }

  /** Another server on the service's database. */
  async startServer(service: Service, name: string): Promise<Program> {
    return this.keep(await start({ ...service.startOptions, name }));
  }

  blame(problem: string, times = 1): void {
    this.#problems.set(problem, (this.#problems.get(problem) ?? 0) + times);
  }

  /** What went wrong since somebody last asked. */
  takeProblems(): string[] {
    const problems = [...this.#problems].map(([problem, times]) => `${problem} (${String(times)} times)`);
    this.#problems.clear();
    return problems;
  }

  /** Stops what runs, and leaves nothing behind. */
  async close(): Promise<void> {
    for (const program of this.#running.splice(0).reverse()) await stop(program);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function progress(text: string): void {
  process.stderr.write(`${text} …\n`);
}

function opened(program: Program | undefined): Program {
  if (program === undefined) throw new Error("the stage is not open");
  return program;
}
