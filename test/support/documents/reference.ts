import type { Argument, Command, Option } from "commander";
import type * as z from "zod";

import { VARIABLE_GROUPS, type Variables } from "../../../runtime/variables/declarations.js";
import type { Variable } from "../../../runtime/variables/forms.js";
import { pathOf } from "../../../src/cli/examples.js";
import { kescProgram } from "../../../src/cli/program.js";

/** The `kesc` command with all its commands. */
export const PROGRAM: Command = await kescProgram([]);

/** The commands that do something, in the order of the help. */
export function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** The text up to a heading of the second level, by default the first, and then the reference. */
export function withReference(text: string, reference: string, heading = ""): string {
  const [before = ""] = text.split(new RegExp(`^## ${heading}`, "m"));
  return `${before.trimEnd()}\n\n${reference}\n`;
}

/** docs/configuration.md: each variable with its default, its range and its meaning. */
export function variablesReference(): string {
  const groups = Object.entries<Variables>(VARIABLE_GROUPS).map(([group, variables]) => {
    const lines = Object.entries(variables).map(([name, variable]) => variableLine(name, variable));
    return `## ${group}\n\n${lines.join("\n")}`;
  });
  return groups.join("\n\n");
}

function variableLine(name: string, { fallback, meaning, schema }: Variable<z.ZodType>): string {
  // A whole number never has this form, so the problem names the range.
  const problem = schema.safeParse("\0").error?.issues[0]?.message;
  const [, range] = /^must be (?:a whole number from )?([0-9].*)$/.exec(problem ?? "") ?? [];
  const standard = fallback === undefined || fallback === "" ? undefined : `\`${fallback}\``;
  const inBrackets = [standard, range].filter((part) => part !== undefined).join("; ");
  return `- \`${name}\`${inBrackets === "" ? "" : ` (${inBrackets})`}: ${meaning}`;
}

/** docs/commands.md: each command with its arguments, the names of its options and its sentence. */
export function commandsReference(): string {
  const headings = [...new Set(PROGRAM.commands.map((command) => command.helpGroup()))];
  return headings
    .map((heading) => {
      const commands = PROGRAM.commands.filter((command) => command.helpGroup() === heading).flatMap(leavesOf);
      return `## ${heading.replace(/:$/, "")}\n\n${commands.map(commandLine).join("\n")}`;
    })
    .join("\n\n");
}

/** The options that docs/commands.md explains once, for all commands that have them. */
const OF_MANY: readonly (string | undefined)[] = ["--json", "--on-database"];

/** The synopsis of a command and its sentence: `kesc COMMAND --help` explains each part. */
function commandLine(command: Command): string {
  const options = command.options.filter(({ hidden, long }) => !hidden && !OF_MANY.includes(long)).map(optionText);
  const synopsis = [pathOf(command), ...command.registeredArguments.map(argumentText), ...options];
  return `- \`${synopsis.join(" ")}\`: ${command.description().replaceAll("<", "\\<")}`;
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function optionText({ flags, mandatory }: Option): string {
  return mandatory ? flags : `[${flags}]`;
}
