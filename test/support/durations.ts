import { existsSync, readFileSync, writeFileSync } from "node:fs";

const FILE = "test/durations.json";
/** A file without a figure is new, and may be long. */
const UNKNOWN_SECONDS = Infinity;

/** The processor seconds of each test file in the last noted run, by the path below dist. */
type Durations = Readonly<Record<string, number>>;

/** Sorts test files by their paths below dist/test: those first that took longest. */
export function longestFirst(files: readonly string[]): string[] {
  const durations = read();
  const seconds = (file: string): number => durations[`test/${file}`] ?? UNKNOWN_SECONDS;
  return files.toSorted((one, other) =>
    seconds(one) === seconds(other) ? one.localeCompare(other) : seconds(other) - seconds(one),
  );
}

/** Notes what files took. Keeps the figures of all others that still exist. */
export function noteDurations(noted: readonly { readonly file: string; readonly cpuSeconds: number }[]): void {
  const durations: Durations = {
    ...read(),
    ...Object.fromEntries(noted.map(({ file, cpuSeconds }) => [`test/${file}`, Number(cpuSeconds.toFixed(1))])),
  };
  const existing = Object.entries(durations).filter(([file]) => existsSync(`dist/${file}`));
  existing.sort(([one], [other]) => one.localeCompare(other));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(existing), undefined, 2)}\n`);
}

function read(): Durations {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Durations) : {};
}
