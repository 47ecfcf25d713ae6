import { checkPack } from "../../months/check-pack.js";
import { PackError } from "../../months/zip-reader.js";
import { parseVerifierKey } from "../../seals/note.js";
import { invocation } from "../../startup/invocation.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { printLine } from "../commands/output.js";

/** Checks a pack without a database. The command exits with 1 if something does not hold. */
export async function checkPackFile(file: string, keys: readonly string[] | undefined): Promise<void> {
  const trusted = keys?.map((key) => {
    const bytes = parseVerifierKey(key);
    if (bytes === undefined) throw new UsageError(`--key ${key} is no public key, as the file keys has it.`);
    return bytes;
  });
  const { manifest, problems } = await checked(file, trusted);
  for (const problem of problems) printLine(problem);
  if (problems.length > 0) throw new OperatorError(`${file} does not hold.`);
  const { organization_id: organization, month, first_sequence: first, last_sequence: last, files } = manifest;
  printLine(`${month} of ${organization}: rows ${String(first)} to ${String(last)}, in ${String(files.length)} files.`);
  if (trusted === undefined) {
    printLine("The pack agrees with itself: hashes, checkpoint, proof of the last row and sums hold.");
    invocation().stderr.write(
      "It does not show who made it: the key came from the pack, and anybody can make one. " +
        "Take the key of the book from a place that you trust, and name it with --key.\n",
    );
    return;
  }
  printLine("The key that you trust has signed it. Hashes, checkpoint, proof of the last row and sums hold.");
}

async function checked(file: string, trusted: readonly Uint8Array[] | undefined) {
  try {
    return await checkPack(file, trusted);
  } catch (error) {
    if (error instanceof PackError) throw new OperatorError(`${file} is no pack: ${error.message}.`, { cause: error });
    if (error instanceof Error && "syscall" in error) {
      throw new OperatorError(`The pack cannot be read: ${error.message}.`, { cause: error });
    }
    throw error;
  }
}
