import type { Command } from "commander";

import { statusReason, wholeNumber } from "../commands/arguments.js";
import { giveExamples } from "../examples.js";
import { addNewKey } from "./operator-key.js";
import { type CommandParameter, isList, isStream, keyOf, type MessageJson, onlyReads, type Row } from "./row.js";
import { type Group, GROUPS, ROWS } from "./table.js";

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 10_000;

/** Returns a function that adds a group of commands, such as `kesc org`, or `kesc supply`. */
export function administration(name: Group): (program: Command) => Command {
  return (program) => {
    const group = program.command(name);
    if (name !== "supply") group.description(GROUPS[name]);
    for (const row of ROWS) {
      const [first, second] = row.path.split(" ");
      if (first === name) addRow(second === undefined ? group : group.command(second), row);
    }
    return name === "operator" ? addNewKey(group) : group;
  };
}

function addRow(command: Command, row: Row): void {
  const { parameters = [], examples = [""] } = row;
  giveExamples(
    command,
    examples.map((given) => `${row.path} ${given}`.trim()),
  );
  addParameters(command.description(row.description), parameters);
  const names = parameters.filter(({ flags }) => flags.startsWith("<")).map(keyOf);
  addPlace(command, row);
  if (isList(row) && row.isLong === true) {
    const limit = wholeNumber({ min: 1, max: LIMIT_MAX });
    command.option("--limit <count>", "the most that are listed", limit, LIMIT_DEFAULT);
  }
  if ("intent" in row) {
    command.option("--yes", "do it; without this option the command only says what it would do");
  }
  const json = isStream(row) ? "print one JSON object on each line, for scripts" : "print JSON, for scripts";
  command.option("--json", json).action(async () => {
    const values = names.map((name, index) => [name, command.processedArgs[index]] as const);
    const given: MessageJson = { ...command.opts(), ...Object.fromEntries(values) };
    // gRPC and the contract are loaded when a command calls, not for the help.
    const { runRow } = await import("./run-row.js");
    await runRow(row, given);
  });
}

/** Adds arguments and options to a command. */
export function addParameters(command: Command, parameters: readonly CommandParameter[]): void {
  for (const { flags, help, required, parse } of parameters) {
    if (flags.startsWith("<")) command.argument(flags, help, parse ?? asIs);
    else if (required === true) command.requiredOption(flags, help, parse ?? asIs);
    else if (parse === undefined) command.option(flags, help);
    else command.option(flags, help, parse);
  }
}

function addPlace(command: Command, row: Row): void {
  command.option(
    "--server <address>",
    "AdminService that does it, with the key in KESC_OPERATOR_KEY (default: KESC_OPERATOR_SERVER" +
      `${row.needsOperator === undefined ? ", or the database" : ""})`,
  );
  if (onlyReads(row) || row.needsOperator !== undefined) return;
  command.option("--on-database", "do it in the database, although there are operators; needs --note");
  if (row.parameters?.some((parameter) => keyOf(parameter) === "note") === true) return;
  command.option("--note <text>", "with --on-database: why; it is printed, and no row has it", statusReason);
}

function asIs(text: string): string {
  return text;
}
