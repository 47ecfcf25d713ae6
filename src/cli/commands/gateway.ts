import type { Command } from "commander";

/**
 * `kesc gateway`: serves REST until the shutdown signal. The gateway is a program of its own, which
 * starts when it is imported.
 */
export function addGateway(program: Command): void {
  program
    .command("gateway")
    .description("serve REST in front of a gRPC server")
    .action(async () => {
      await import("../../../gateway/main.js");
    });
}
