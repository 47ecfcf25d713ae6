import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";

/** `kesc gateway`: serves REST until a shutdown signal. Importing the gateway starts it. */
export function addGateway(program: Command): void {
  program
    .command("gateway")
    .description("serve REST in front of a gRPC server")
    .action(async () => {
      // The gateway reads its own variables. This call only refuses invalid and unknown ones.
      configFromEnvironment();
      await import("../../../gateway/main.js");
    });
}
