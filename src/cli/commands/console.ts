import type { Command } from "commander";

/**
 * `kesc console`: serves the operators' console until the shutdown signal. The console is a program
 * of its own, which starts when it is imported.
 */
export function addConsole(program: Command): void {
  program
    .command("console")
    .description("serve the operators' console, in front of the operators' address")
    .action(async () => {
      await import("../../../console/main.js");
    });
}
