import pino, { type Logger } from "pino";

import { traceOf } from "./error-trace.js";
import { atEndOfTurn, MicroBatch } from "./micro-batch.js";
import type { LogLevel } from "./variables/declarations.js";

const BUFFER_BYTES = 4_096;
const WAITING_BYTES_MAX = 16_777_216;
const FLUSH_MILLIS = 1_000;

/**
 * Opens the log of this process on standard output. A line waits one second at most: to write each
 * line by itself would cost as much as a call.
 *
 * Logs an uncaught exception and exits with 1.
 */
export function openLog(level: LogLevel): Logger {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: WAITING_BYTES_MAX,
  });
  // When the log cannot be written (a full disk, a closed pipe), its lines are lost. The service
  // goes on.
  destination.on("error", () => undefined);
  // One write for all lines of a turn: the destination copies its whole buffer at each write, which
  // is an eighth of the memory that a mint allocates.
  const lines = new MicroBatch<string>({
    schedule: atEndOfTurn,
    process: (batch) => {
      destination.write(batch.join(""));
    },
  });
  const stream = {
    write: (line: string): void => {
      lines.add(line);
    },
    flush: (done?: () => void): void => {
      lines.flush();
      destination.flush(done);
    },
  };
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // The level as a word, such as "info", in place of pino's number.
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  setInterval(() => {
    stream.flush();
  }, FLUSH_MILLIS).unref();
  // For a process that exits without flushLog(), after an error.
  process.on("exit", () => {
    try {
      lines.flush();
      destination.flushSync();
    } catch {
      // Standard output is gone.
    }
  });
  // Node would print the error with all its properties. Those of a driver's error hold the values
  // of a row.
  process.on("uncaughtException", (error) => {
    logger.fatal({ trace: traceOf(error) }, "uncaught exception: exiting at once");
    process.exit(1);
  });
  return logger;
}

/**
 * Resolves when all lines so far are written. A process awaits it before it exits: at the exit
 * itself, lines that are just being written could be lost, or come after later ones.
 */
export function flushLog(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    logger.flush(() => {
      resolve();
    });
  });
}
