import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { REPOSITORY } from "./options.js";
import { type Entry, type Program, start, type StartOptions, stop } from "./servers/programs.js";
import { newTenant, problemsInBooks, problemsInJournal, runKesc, type Service } from "./servers/service.js";

const OUT = join(REPOSITORY, "bench/out");

interface ServiceOptions {
  /** An empty database; absent: a new SQLite file. */
  databaseUrl?: string;
  env?: Record<string, string>;
  /** Another build's command. */
  kesc?: string;
  /** Starts the server if the command itself does not. */
  entry?: Entry;
  /** Absent: 100. */
  accounts?: number;
}

/** The programs of a benchmark, its folder, and the list of its problems. */
export class Stage {
  readonly kesc: string;
  /** On the disk that holds the checkout: a folder in memory would make every commit look cheap. */
  readonly folder: string;
  readonly #running: Program[] = [];
  readonly #problems = new Map<string, number>();
  #loader: Program | undefined;
  #echo: Program | undefined;

  constructor(kesc: string) {
    this.kesc = kesc;
    mkdirSync(OUT, { recursive: true });
    this.folder = mkdtempSync(join(OUT, "run-"));
  }

  /** Opens a stage, runs `work` on it, and stops its programs. Sets the exit code on failure. */
  static async run(kesc: string, work: (stage: Stage) => Promise<void>): Promise<void> {
    const stage = new Stage(kesc);
    try {
      stage.#loader = await stage.startOwn("load", "load/main.js");
      stage.#echo = await stage.startOwn("grpc-echo", "echo/grpc-echo.js");
      await work(stage);
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    } finally {
      for (const program of stage.#running.splice(0).reverse()) await stop(program);
      rmSync(stage.folder, { recursive: true, force: true });
    }
  }

  get loader(): Program {
    return opened(this.#loader);
  }

  /** A grpc-js server whose handler does nothing. */
  get echo(): Program {
    return opened(this.#echo);
  }

  /** Starts a program of bench/. */
  startOwn(name: string, file: string, flags: readonly string[] = []): Promise<Program> {
    return this.#start({ name, entry: [process.execPath, ...flags, join(import.meta.dirname, file)] });
  }

  /** Starts a program of others. */
  startForeign(options: Omit<StartOptions, "logFolder">): Promise<Program> {
    return this.#start(options);
  }

  /** Starts a service with accounts on a database of its own. */
  async startService(name: string, options: ServiceOptions = {}): Promise<Service> {
    const { databaseUrl = `sqlite:${join(this.folder, `${name}.db`)}`, kesc = this.kesc, entry = [kesc] } = options;
    const env = {
      DATABASE_URL: databaseUrl,
      KESC_LOG_LEVEL: "info",
      KESC_GRPC_ADDRESS: "127.0.0.1:0",
      ...(await withoutRates(kesc)),
      ...options.env,
    };
    await runKesc(kesc, ["migrate"], env);
    const startOptions = { name, entry, args: ["server"], env, logFolder: this.folder };
    const program = await this.#start(startOptions);
    return newTenant({ program, startOptions, kesc, databaseUrl }, options.accounts);
  }

  /** Starts another server on the service's database. */
  startServer(service: Service, name: string): Promise<Program> {
    return this.#start({ ...service.startOptions, name });
  }

  /** Starts a gateway in front of the service: one process, as its yardstick is. */
  startGateway(service: Service, options: Pick<ServiceOptions, "env" | "entry"> = {}): Promise<Program> {
    const { entry = [service.kesc] } = options;
    const env = {
      KESC_GATEWAY_TARGET: service.program.address,
      KESC_HTTP_ADDRESS: "127.0.0.1:0",
      KESC_GATEWAY_PROCESSES: "1",
      KESC_LOG_LEVEL: "info",
      ...options.env,
    };
    return this.#start({ name: `${service.program.name}-gateway`, entry, args: ["gateway"], env });
  }

  /** Checks the balances, and then, with the server stopped, the journal. */
  async checkBooks(service: Service): Promise<void> {
    const problems = await problemsInBooks(service);
    await stop(service.program);
    for (const problem of [...problems, ...(await problemsInJournal(service))]) this.blame(problem);
  }

  blame(problem: string, times = 1): void {
    this.#problems.set(problem, (this.#problems.get(problem) ?? 0) + times);
  }

  /** Blames each problem of a job. */
  blameAll(name: string, problems: Record<string, number>): void {
    for (const [problem, times] of Object.entries(problems)) this.blame(`${name}: ${problem}`, times);
  }

  /** The problems since the last call. */
  takeProblems(): string[] {
    const problems = [...this.#problems].map(([problem, times]) => `${problem} (${String(times)} times)`);
    this.#problems.clear();
    return problems;
  }

  async #start(options: Omit<StartOptions, "logFolder">): Promise<Program> {
    const program = await start({ logFolder: this.folder, ...options });
    this.#running.push(program);
    return program;
  }
}

/** The load comes with one key. A build from before the rates refuses their settings. */
async function withoutRates(kesc: string): Promise<Record<string, string>> {
  const rates = { KESC_RATE_CALLS_PER_SECOND: "0", KESC_RATE_LISTS_PER_SECOND: "0" };
  // Each build refuses unknown variables, and then a database that does not exist.
  const env = { ...process.env, ...rates, DATABASE_URL: "sqlite:/nonexistent/kesc.db" };
  const refused = await promisify(execFile)(kesc, ["verify"], { env }).catch((error: unknown) => error);
  return (refused as { readonly stderr: string }).stderr.includes("KESC_RATE") ? {} : rates;
}

export function progress(text: string): void {
  process.stderr.write(`${text} …\n`);
}

function opened(program: Program | undefined): Program {
  if (program === undefined) throw new Error("the stage is not open");
  return program;
}
