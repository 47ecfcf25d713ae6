import { createHash, randomBytes } from "node:crypto";

import type { Command } from "commander";

import { printJson, printLine } from "../commands/output.js";

const SECRET_BYTES = 32;

interface NewKey {
  readonly secret: string;
  readonly fingerprint: string;
}

/** Makes the key of an operator. */
export function newKey(): NewKey {
  const secret = `kesc_op_${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { secret, fingerprint: createHash("sha256").update(secret).digest("hex") };
}

/** Adds `kesc operator new-key`, which calls nobody. */
export function addNewKey(operator: Command): Command {
  operator
    .command("new-key")
    .description("make a key for yourself; others get its fingerprint only")
    .option("--json", "print JSON, for scripts")
    .action(printNewKey);
  return operator;
}

function printNewKey({ json }: { readonly json?: true }): void {
  const { secret, fingerprint } = newKey();
  if (json === true) {
    printJson({ key: secret, key_sha256: fingerprint });
    return;
  }
  printLine(`Your key:\n\n  ${secret}\n\nIt is shown once. Keep it, and give it to nobody.`);
  printLine(`Its fingerprint, for the admin who makes you an operator:\n\n  ${fingerprint}\n`);
}
