import type { Logger } from "pino";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** What asked this process to stop. */
export type ShutdownCause = (typeof SIGNALS)[number] | "disconnect";

/**
 * Resolves with the first cause to stop: SIGTERM, SIGINT, or the end of the parent process, if that
 * has a channel to this one.
 */
export function shutdownSignal(): Promise<ShutdownCause> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      // The handler stays: without it, a second signal would kill the process while it stops.
      process.on(signal, () => {
        resolve(signal);
      });
    }
    process.on("disconnect", () => {
      resolve("disconnect");
    });
    // Node emits "disconnect" once. The parent may have ended before this process listened.
    if ("connected" in process && !process.connected) resolve("disconnect");
  });
}

/**
 * Exits with 1 after `graceMillis`, even when something hangs. A process that ends earlier is not
 * affected.
 */
export function exitAfter(graceMillis: number, logger: Logger): void {
  setTimeout(() => {
    logger.error("the grace period is over: exiting by force");
    process.exit(1);
  }, graceMillis).unref();
}
