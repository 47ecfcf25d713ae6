import { Command } from "commander";

import type { Variables } from "../../runtime/variables/declarations.js";
import { invocation } from "../startup/invocation.js";
import { version } from "../startup/version.js";
import type { Group } from "./administration/table.js";
import { examplesOf } from "./examples.js";

const VERSION = new Set(["--version", "-V"]);
// The error messages of Commander repeat wrong arguments. One may be an API key.
const SECRET = /kesc_[A-Za-z0-9_-]{20,}/g;
const COLUMNS_DEFAULT = 80;

type Add = (parent: Command) => unknown;
type Loads = Readonly<Record<string, () => Promise<Add>>>;

/**
 * The commands, in the groups and the order of the help. Each loads its code when called
 * (docs/adr/0057).
 */
const COMMANDS: Readonly<Record<string, Loads>> = {
  "Run it": {
    serve: async () => (await import("./commands/serve.js")).addServe,
    server: async () => (await import("./commands/server.js")).addServer,
    gateway: async () => (await import("./commands/own-programs.js")).addGateway,
    console: async () => (await import("./commands/own-programs.js")).addConsole,
    migrate: async () => (await import("./commands/migrate.js")).addMigrate,
    doctor: async () => (await import("./doctor/command.js")).addDoctor,
    top: async () => (await import("./top/command.js")).addTop,
    backup: async () => (await import("./backup/backup.js")).addBackup,
    restore: async () => (await import("./backup/restore.js")).addRestore,
    "confirm-restore": async () => (await import("./backup/confirm-restore.js")).addConfirmRestore,
    purge: async () => (await import("./purge.js")).addPurge,
    "master-key": async () => (await import("./commands/master-key.js")).addMasterKey,
  },
  "Organizations and keys": {
    org: () => administrationWith("org"),
    key: () => administrationWith("key"),
    operator: () => administrationWith("operator"),
    proposal: () => administrationWith("proposal"),
    limits: () => administrationWith("limits"),
  },
  Money: {
    rail: () => administrationWith("rail", async () => (await import("./rail/register-pull.js")).addRail),
    account: () =>
      administrationWith(
        "account",
        async () => (await import("./commands/account.js")).addVacuum,
        async () => (await import("./call/command.js")).addAccountCalls,
      ),
    transaction: () =>
      administrationWith("transaction", async () => (await import("./call/command.js")).addTransactionCalls),
    deposit: () => administrationWith("deposit"),
    payouts: () => administrationWith("payouts", async () => (await import("./payouts/command.js")).addPayouts),
    "bank-file": () =>
      administrationWith("bank-file", async () => (await import("./payouts/bank-file-command.js")).addBankFile),
    webhook: () => administrationWith("webhook"),
    reconcile: async () => (await import("./reconcile/command.js")).addReconcile,
  },
  Books: {
    verify: async () => (await import("./commands/verify.js")).addVerify,
    book: () =>
      administrationWith(
        "book",
        async () => (await import("./move/command.js")).addMove,
        async () => (await import("./operator/corrections.js")).addCorrections,
      ),
    seal: () => administrationWith("seal", async () => (await import("./seal/command.js")).addSeal),
    close: async () => (await import("./close/command.js")).addClose,
    export: async () => (await import("./books/export.js")).addExport,
    supply: () => administrationWith("supply"),
    reserve: () => administrationWith("reserve"),
  },
  "A server's clients": {
    call: async () => (await import("./call/command.js")).addCall,
    import: async () => (await import("./import/command.js")).addImport,
    tail: async () => (await import("./tail/command.js")).addTail,
    sandbox: async () => (await import("./call/command.js")).addSandbox,
    openapi: async () => (await import("./openapi.js")).addOpenapi,
    daraja: async () => (await import("./daraja.js")).addDaraja,
  },
};

/** Loads a group of the table, and then the commands of the group that are no rows. */
async function administrationWith(name: Group, ...byHand: readonly (() => Promise<Add>)[]): Promise<Add> {
  const { administration } = await import("./administration/command.js");
  const adds = await Promise.all(byHand.map((load) => load()));
  return (program) => {
    const group = administration(name)(program);
    for (const add of adds) add(group);
  };
}

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
  const called = Object.values(COMMANDS).find((loads) => Object.hasOwn(loads, first))?.[first];
  if (called !== undefined) {
    (await called())(program);
    addExamples(program);
    return program;
  }
  // The help, and advice on a misspelt command, name all of them.
  for (const [group, loads] of Object.entries(COMMANDS)) {
    program.commandsGroup(`${group}:`);
    for (const load of Object.values(loads)) (await load())(program);
  }
  addExamples(program.commandsGroup("Help:").helpCommand("help [command]", "say more about a command"));
  const { VARIABLE_GROUPS } = await import("../../runtime/variables/declarations.js");
  return program.addHelpText("after", `\n${helpOn(VARIABLE_GROUPS["The eight that you set"])}\n\n${ENDING}`);
}

function addExamples(command: Command): void {
  for (const each of command.commands) addExamples(each);
  if (command.parent === null || command.commands.length > 0) return;
  const lines = examplesOf(command).map((example) => `\n  kesc ${example}`);
  command.addHelpText("after", `\nExamples:${lines.join("")}`);
}

const ENDING = `docs/configuration.md lists all variables, docs/commands.md all commands, docs/run.md the steps.
Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.`;

function helpOn(variables: Variables): string {
  const width = Math.max(...Object.keys(variables).map((name) => name.length));
  const rows = Object.entries(variables).map(([name, { fallback, meaning }]) => {
    return `  ${name.padEnd(width)}  ${meaning}${fallback === undefined ? "" : ` (${fallback})`}`;
  });
  return ["Environment:", ...rows].join("\n");
}
