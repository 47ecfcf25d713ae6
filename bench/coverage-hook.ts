// Loaded into each thread of a server before its own code, by NODE_OPTIONS: counts the functions
// that run. At SIGUSR2 each thread writes the files whose functions ran since the last time, into a
// file of its own, which is there from its start.
import { renameSync, writeFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { join } from "node:path";
import { BroadcastChannel, isMainThread, threadId } from "node:worker_threads";

const file = join(process.env["BENCH_COVERAGE_FOLDER"] ?? "", `${String(process.pid)}-${String(threadId)}.json`);
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** The nameless function that begins with its file is the file itself, which runs when it loads. */
function hasRun({ functionName, ranges }: Profiler.FunctionCoverage): boolean {
  const [range] = ranges;
  return range !== undefined && range.count > 0 && !(functionName === "" && range.startOffset === 0);
}

function take(): void {
  // Taking the counts also resets them.
  session.post("Profiler.takePreciseCoverage", (error, { result }) => {
    if (error !== null) throw error;
    const urls = result.filter(({ functions }) => functions.some(hasRun)).map(({ url }) => url);
    write(urls);
  });
}

/** The reader finds the whole list, or none. */
function write(urls: readonly string[]): void {
  writeFileSync(`${file}.part`, JSON.stringify(urls));
  renameSync(`${file}.part`, file);
}

write([]);

const threads = new BroadcastChannel("bench-coverage");
// The hook must not keep a program alive.
threads.unref();
threads.onmessage = take;
if (isMainThread) {
  process.on("SIGUSR2", () => {
    threads.postMessage("take");
    take();
  });
}
