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
const ANY_SIZE = /--max[-_]semi[-_]space[-_]size/;

/** Whether this process was started with a size for the young generation, from whatever source. */
export function isYoungGenerationSet(): boolean {
  return [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => ANY_SIZE.test(option));
}
