import { Command } from "commander";

import type { VARIABLES } from "../../runtime/variables.js";
import { invocation } from "../startup/invocation.js";
import { version } from "./version.js";

const VERSION = new Set(["--version", "-V"]);
// The error messages of Commander repeat wrong arguments. One may be an API key.
const SECRET = /kesc_[A-Za-z0-9_-]{20,}/g;
const COLUMNS_DEFAULT = 80;

type Add = (program: Command) => unknown;

/** The commands, in the order of the help. Each loads its code when called (docs/adr/0057). */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  serve: async () => (await import("./commands/serve.js")).addServe,
  server: async () => (await import("./commands/server.js")).addServer,
  gateway: async () => (await import("./commands/gateway.js")).addGateway,
  migrate: async () => (await import("./commands/migrate.js")).addMigrate,
  org: async () => (await import("./administration/org.js")).addOrg,
  key: async () => (await import("./administration/key.js")).addKey,
  operator: async () => (await import("./administration/operator.js")).addOperator,
  proposal: async () => (await import("./administration/proposal.js")).addProposal,
  rail: async () => (await import("./rail/command.js")).addRail,
  account: async () => {
    const [{ addAccount }, { addTier }, { addAccountCalls }] = await Promise.all([
      import("./commands/account.js"),
      import("./limits/tier.js"),
      import("./call/command.js"),
    ]);
    return (program) => {
      addAccountCalls(addTier(addAccount(program)));
    };
  },
  transaction: async () => (await import("./call/command.js")).addTransaction,
  sandbox: async () => (await import("./call/command.js")).addSandbox,
  "master-key": async () => (await import("./commands/master-key.js")).addMasterKey,
  call: async () => (await import("./call/command.js")).addCall,
  tail: async () => (await import("./tail/command.js")).addTail,
  top: async () => (await import("./top/command.js")).addTop,
  openapi: async () => (await import("./openapi.js")).addOpenapi,
  import: async () => (await import("./import/command.js")).addImport,
  verify: async () => (await import("./commands/verify.js")).addVerify,
  doctor: async () => (await import("./doctor/command.js")).addDoctor,
  purge: async () => (await import("./purge.js")).addPurge,
  backup: async () => (await import("./backup/backup.js")).addBackup,
  restore: async () => (await import("./backup/restore.js")).addRestore,
  book: async () => {
    const [{ addBook }, { addMove }, { addCorrections }] = await Promise.all([
      import("./backup/book.js"),
      import("./move/command.js"),
      import("./operator/corrections.js"),
    ]);
    return (program) => {
      const book = addBook(program);
      addMove(book);
      addCorrections(book);
    };
  },
  resolve: async () => (await import("./operator/resolve.js")).addResolve,
  reconcile: async () => (await import("./reconcile/command.js")).addReconcile,
  seal: async () => (await import("./seal/command.js")).addSeal,
  export: async () => (await import("./books/export.js")).addExport,
  supply: async () => (await import("./books/supply.js")).addSupply,
  reserve: async () => (await import("./books/reserve.js")).addReserve,
  limits: async () => (await import("./limits/command.js")).addLimits,
};

/**
 * Builds the `kesc` command for these arguments, without those of Node. Running it throws a
 * CommanderError for wrong usage, and any error of the command.
 */
export async function kescProgram(args: readonly string[]): Promise<Command> {
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

  const [first = ""] = args;
  if (VERSION.has(first)) return program;
  const called = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  if (called !== undefined) {
    (await called())(program);
    return program;
  }
  // The help, and advice on a misspelt command, name all of them.
  for (const load of Object.values(COMMANDS)) (await load())(program);
  const { VARIABLES } = await import("../../runtime/variables.js");
  return program.addHelpText(
    "after",
    `\n${helpOn(VARIABLES)}\n\nExit codes: 0 success, 1 failure, 2 wrong usage or configuration.`,
  );
}

function helpOn(variables: typeof VARIABLES): string {
  const width = Math.max(...Object.keys(variables).map((name) => name.length));
  const rows = Object.entries(variables).map(([name, { fallback, meaning }]) => {
    return `  ${name.padEnd(width)}  ${meaning}${fallback === undefined ? "" : ` (${fallback})`}`;
  });
  return ["Environment:", ...rows].join("\n");
}
