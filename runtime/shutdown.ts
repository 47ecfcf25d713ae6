import type { Logger } from "pino";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** What asked this process to stop. */
export type ShutdownCause = (typeof SIGNALS)[number] | "message" | "disconnect";

/** A parent process sends it to ask its child to stop. */
export const STOP_MESSAGE = { kind: "stop" } as const;

/**
 * Resolves with the first cause to stop: SIGTERM, SIGINT, a stop message from the parent process,
 * or the end of the parent process. With `ignoreSignals` a signal neither resolves it nor ends the
 * process: the parent gets the same signal, and knows in which order to stop its children.
 */
export function shutdownSignal({ ignoreSignals = false } = {}): Promise<ShutdownCause> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      // The handler stays: without it, a second signal would kill the process while it stops.
      process.on(signal, () => {
        if (!ignoreSignals) resolve(signal);
      });
    }
    process.on("message", (message) => {
      if (isStopMessage(message)) resolve("message");
    });
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

function isStopMessage(message: unknown): boolean {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === STOP_MESSAGE.kind;
}
