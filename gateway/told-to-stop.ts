const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Resolves with what says it first: a signal, or "disconnect" when whoever started this process as
 * a child is gone.
 */
export function toldToStop(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      // Always: a second one must not cut short the stop that the first has begun.
      process.on(signal, () => {
        resolve(signal);
      });
    }
    process.once("disconnect", () => {
      resolve("disconnect");
    });
  });
}
