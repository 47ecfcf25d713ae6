import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";

/** Why suites that need a terminal are skipped on this machine. Undefined: they are not. */
export const NO_TERMINAL =
  spawnSync("script", ["--version"]).status === 0 ? undefined : "SKIPPED, there is no script(1) of util-linux";

/** The arguments with which script(1) runs a command in a terminal and prints what it prints. */
export function inTerminal(command: readonly string[]): readonly string[] {
  return ["-qec", command.map((word) => `'${word}'`).join(" "), "/dev/null"];
}

/** Returns what a command prints in a terminal, on standard output and on standard error. */
export async function printedInTerminal(
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const env = { PATH: process.env["PATH"], TERM: "xterm-256color", ...variables };
  const { stdout } = await promisify(execFile)("script", inTerminal(command), { env });
  return stdout;
}
