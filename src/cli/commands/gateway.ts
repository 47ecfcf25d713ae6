import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";

/**
 * `kesc gateway`: serves REST until it is told to stop. A program of its own, which begins when it
 * is imported.
 */
export function addGateway(program: Command): void {
  program
    .command("gateway")
    .description("serve REST in front of a gRPC server")
    .action(async () => {
      // The gateway reads its own; this refuses what neither of the two programs knows.
      configFromEnvironment();
      await import("../../../gateway/main.js");
    });
}
