import type { Command } from "commander";

// Each is a program of its own, which starts when it is imported, and serves until the shutdown
// signal.

export function addGateway(program: Command): void {
  program
    .command("gateway")
    .description("serve REST in front of a gRPC server")
    .action(() => import("../../../gateway/main.js").then(() => undefined));
}

export function addConsole(program: Command): void {
  program
    .command("console")
    .description("serve the operators' console, in front of the operators' address")
    .action(() => import("../../../console/main.js").then(() => undefined));
}
