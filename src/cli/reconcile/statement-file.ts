import { readFile, stat } from "node:fs/promises";

import { FileReading, type ReadOptions } from "../../grpc/services/files/file-reading.js";
import { FILE_BYTES_MAX } from "../../reconcile/files/tables.js";
import { StatementError } from "../../reconcile/statement-error.js";
import { OperatorError } from "../../startup/operator-error.js";

/** Reads the file, and says of which one a problem is. */
export async function ofStatement<Result>(file: string, read: (bytes: Buffer) => Promise<Result>): Promise<Result> {
  const bytes = await bytesOf(file);
  try {
    return await read(bytes);
  } catch (error) {
    if (error instanceof StatementError) throw new OperatorError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

type ReadInThread<Facts> = (reading: FileReading, options: ReadOptions) => Promise<Facts> | undefined;

/** Reads what others have sent, within the processor time and the memory that a server gives it. */
export async function readAlone<Facts>(read: ReadInThread<Facts>): Promise<Facts> {
  const facts = await read(new FileReading(), { inTurn: async (each) => (await each()).result });
  if (facts === undefined) throw new Error("no other file is read in this process");
  return facts;
}

/** Reads a file that is not too large. Rejects with an OperatorError. */
export async function bytesOf(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) throw new OperatorError(`${file} has more than ${String(FILE_BYTES_MAX)} bytes.`);
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) {
      throw new OperatorError(`The file cannot be read: ${error.message}.`);
    }
    throw error;
  }
}
