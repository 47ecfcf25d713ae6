import { setTimeout as sleep } from "node:timers/promises";

import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { Problem } from "../../startup/operator-error.js";
import { Child } from "../child.js";
import { type Addresses, demoWords, prepareDemo } from "./demo.js";
import { printLine } from "./output.js";

/**
 * `kesc serve`: runs the server and the gateway as two processes until a shutdown signal. Stops the
 * gateway first, so that the server finishes the calls of the gateway. If one process exits by
 * itself, stops the other one, too.
 */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve gRPC and REST, as two processes")
    .option("--demo", "migrate, create a demo organization with a key if there is none, and print requests to paste")
    .action(async ({ demo }: { demo?: true }) => {
      const config = configFromEnvironment();
      const prepared = demo === true ? await prepareDemo(config.database) : undefined;
      try {
        await serve(config, (addresses) => {
          if (prepared !== undefined) printLine(demoWords(prepared, addresses));
        });
      } finally {
        // The listener for "disconnect" would keep this process alive.
        if (process.connected) process.disconnect();
      }
    });
}

interface ServeOptions {
  readonly gatewayTarget: string | undefined;
  readonly shutdownGraceSeconds: number;
}

/** Resolves after a clean shutdown. Throws a Problem if a process exited by itself or failed. */
async function serve(options: ServeOptions, onReady: (addresses: Addresses) => void): Promise<void> {
  // In the order of their start. They are stopped in the reverse order.
  const children: Child[] = [];
  const start = (child: Child): Child => {
    children.push(child);
    return child;
  };

  const told = toldToStop();
  const ended = await Promise.race([told, runBoth(start, told, { ...options, onReady })]);
  const exits = await stopAll(children, options.shutdownGraceSeconds * 1_000);
  if (ended !== undefined)
    throw new Problem(
      `The ${ended.name} exited unexpectedly (${String(await ended.exited)}). All processes were stopped.`,
    );
  const unclean = exits.filter(({ exit }) => exit !== 0).map(({ name, exit }) => `${name} (${String(exit)})`);
  if (unclean.length > 0) throw new Problem(`The shutdown failed: ${unclean.join(", ")}.`);
}

/**
 * Starts both processes. Resolves with the first one that exits. Resolves with undefined if the
 * shutdown signal comes before both are ready.
 */
async function runBoth(
  start: (child: Child) => Child,
  told: Promise<undefined>,
  { gatewayTarget, onReady }: ServeOptions & { readonly onReady: (addresses: Addresses) => void },
): Promise<Child | undefined> {
  const server = start(new Child("server", { options: ["--supervised"] }));
  const grpc = await Promise.race([server.ready, told]);
  if (grpc === undefined) return endedOf([server], told);

  const gateway = start(new Child("gateway", { variables: { KESC_GATEWAY_TARGET: gatewayTarget ?? grpc } }));
  const http = await Promise.race([gateway.ready, endedOf([server], told).then(() => undefined)]);
  if (http !== undefined) {
    onReady({ grpc, http });
    process.send?.({ kind: "ready", address: http, grpcAddress: grpc });
  }
  return endedOf([server, gateway], told);
}

function endedOf(children: readonly Child[], told: Promise<undefined>): Promise<Child | undefined> {
  return Promise.race([told, ...children.map((child) => child.exited.then(() => child))]);
}

/** Resolves on SIGTERM, SIGINT, or the end of the parent process. */
function toldToStop(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const event of ["SIGTERM", "SIGINT", "disconnect"]) {
      process.on(event, () => {
        resolve(undefined);
      });
    }
  });
}

/**
 * Stops one process after another, the last started first. Kills the remaining ones after the grace
 * period.
 */
async function stopAll(
  children: readonly Child[],
  graceMillis: number,
): Promise<readonly { name: string; exit: number | NodeJS.Signals }[]> {
  const force = setTimeout(() => {
    for (const child of children) child.kill();
  }, graceMillis);
  for (const child of children.toReversed()) {
    child.stop();
    // A slow process must leave the next one its share of the grace period.
    await Promise.race([child.exited, sleep(graceMillis / children.length, undefined, { ref: false })]);
  }
  const exits = await Promise.all(children.map(async ({ name, exited }) => ({ name, exit: await exited })));
  clearTimeout(force);
  return exits;
}
