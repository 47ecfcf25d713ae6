import { memoryBytes, SMALL_MACHINE_BYTES } from "../../runtime/heap.js";

/**
 * The option of Node for a young generation of 64 MiB. It buys 11 to 20 % more mints
 * (docs/performance.md): a call's garbage lives for one commit, and with V8's default of 16 MiB
 * much of it is copied before it dies.
 *
 * V8 reads it only when a process starts. The first line of kesc.ts has the same option.
 */
const YOUNG_GENERATION_OPTION = "--max-semi-space-size=64";
export const YOUNG_GENERATION_ADVICE =
  "V8's young generation has its default size, which costs a tenth of the mints: " +
  `start the server with \`kesc\` or with node ${YOUNG_GENERATION_OPTION}`;
const SMALL_MACHINE_OPTION = "--max-semi-space-size=16";
const ANY_SIZE = /--max[-_]semi[-_]space[-_]size/;

/** Whether this process was started with a size for the young generation, from whatever source. */
export function isYoungGenerationSet(): boolean {
  return [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => ANY_SIZE.test(option));
}

/**
 * Starts this process anew with V8's default young generation if its first line gave it 64 MiB on a
 * machine or in a container below 1 GiB. On 512 MiB the kernel ended a server with 64 MiB, under
 * full load beside a backup (docs/adr/0073). The process keeps its id, and its open streams.
 *
 * A child with a channel to its parent goes on as it is: the channel would be lost. So does Node on
 * Windows, which has no execve.
 */
export function fitYoungGeneration(): void {
  const options = optionsFor(process.execArgv, memoryBytes());
  if (options === undefined || process.connected || process.execve === undefined) return;
  const { execPath, argv } = process;
  process.execve(execPath, [execPath, ...options, ...argv.slice(1)]);
}

/** Returns the options of Node for a machine with this much memory. Undefined: those given fit. */
export function optionsFor(given: readonly string[], bytes: number): readonly string[] | undefined {
  if (bytes >= SMALL_MACHINE_BYTES || !given.includes(YOUNG_GENERATION_OPTION)) return undefined;
  return given.map((option) => (option === YOUNG_GENERATION_OPTION ? SMALL_MACHINE_OPTION : option));
}
