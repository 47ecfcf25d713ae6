/**
 * The clock and the waits of work in the background. Tests with a virtual clock implement them,
 * too.
 */
export interface LoopTiming {
  /** A clock that nobody sets. */
  readonly monotonicMillis: () => number;
  /** Resolves after the time, or as soon as the signal aborts. Never rejects. */
  readonly wait: (millis: number, signal: AbortSignal) => Promise<void>;
}

export const SYSTEM_TIMING: LoopTiming = { monotonicMillis: () => performance.now(), wait };

/** Resolves after the time, or as soon as the signal aborts. Keeps no process alive. */
export function wait(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, millis);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
