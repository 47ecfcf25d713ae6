import { Command } from "commander";

import { VARIABLES } from "../../runtime/variables.js";
import { invocation } from "../startup/invocation.js";
import { addKey } from "./administration/key.js";
import { addOperator } from "./administration/operator.js";
import { addOrg } from "./administration/org.js";
import { addProposal } from "./administration/proposal.js";
import { addBackup } from "./backup/backup.js";
import { addBook } from "./backup/book.js";
import { addRestore } from "./backup/restore.js";
import { addExport } from "./books/export.js";
import { addReserve } from "./books/reserve.js";
import { addSupply } from "./books/supply.js";
import { addAccountCalls, addCall, addSandbox, addTransaction } from "./call/command.js";
import { addAccount } from "./commands/account.js";
import { addGateway } from "./commands/gateway.js";
import { addMasterKey } from "./commands/master-key.js";
import { addMigrate } from "./commands/migrate.js";
import { addServe } from "./commands/serve.js";
import { addServer } from "./commands/server.js";
import { addVerify } from "./commands/verify.js";
import { addDoctor } from "./doctor/command.js";
import { addImport } from "./import/command.js";
import { addLimits } from "./limits/command.js";
import { addTier } from "./limits/tier.js";
import { addMove } from "./move/command.js";
import { addOpenapi } from "./openapi.js";
import { addCorrections } from "./operator/corrections.js";
import { addResolve } from "./operator/resolve.js";
import { addPurge } from "./purge.js";
import { addRail } from "./rail/command.js";
import { addReconcile } from "./reconcile/command.js";
import { addSeal } from "./seal/command.js";
import { addTail } from "./tail/command.js";
import { addTop } from "./top/command.js";
import { version } from "./version.js";

// The error messages of Commander repeat wrong arguments. One may be an API key.
const SECRET = /kesc_[A-Za-z0-9_-]{20,}/g;
const COLUMNS_DEFAULT = 80;

/**
 * Builds the `kesc` command. Running it throws a CommanderError for wrong usage, and any error of
 * the command.
 */
export function kescProgram(): Command {
  const { stdout, stderr } = invocation();
  const program = new Command("kesc")
    .description("Keeps KESC accounts: mints KESC when Kenyan shillings come in, redeems it when they go out.")
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text.replace(SECRET, "kesc_…")),
      getOutHelpWidth: () => stdout.columns ?? COLUMNS_DEFAULT,
      getErrHelpWidth: () => stderr.columns ?? COLUMNS_DEFAULT,
    })
    .showHelpAfterError("(run 'kesc help' for a list of the commands)");

  addServe(program);
  addServer(program);
  addGateway(program);
  addMigrate(program);
  addOrg(program);
  addKey(program);
  addOperator(program);
  addProposal(program);
  addRail(program);
  addAccountCalls(addTier(addAccount(program)));
  addTransaction(program);
  addSandbox(program);
  addMasterKey(program);
  addCall(program);
  addTail(program);
  addTop(program);
  addOpenapi(program);
  addImport(program);
  addVerify(program);
  addDoctor(program);
  addPurge(program);
  addBackup(program);
  addRestore(program);
  const book = addBook(program);
  addMove(book);
  addCorrections(book);
  addResolve(program);
  addReconcile(program);
  addSeal(program);
  addExport(program);
  addSupply(program);
  addReserve(program);
  addLimits(program);

  return program.addHelpText(
    "after",
    `\n${helpOnVariables()}\n\nExit codes: 0 success, 1 failure, 2 wrong usage or configuration.`,
  );
}

function helpOnVariables(): string {
  const width = Math.max(...Object.keys(VARIABLES).map((name) => name.length));
  const rows = Object.entries(VARIABLES).map(([name, { fallback, meaning }]) => {
    return `  ${name.padEnd(width)}  ${meaning}${fallback === undefined ? "" : ` (${fallback})`}`;
  });
  return ["Environment:", ...rows].join("\n");
}
