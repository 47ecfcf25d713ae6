import type { Argument, Command, Option } from "commander";
import type * as z from "zod";

import { VARIABLE_GROUPS, type Variables } from "../../../runtime/variables/declarations.js";
import type { Variable } from "../../../runtime/variables/forms.js";
import { examplesOf, pathOf } from "../../../src/cli/examples.js";
import { kescProgram } from "../../../src/cli/program.js";

/** The `kesc` command with all its commands. */
export const PROGRAM: Command = await kescProgram([]);

/** The commands that do something, in the order of the help. */
export function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** The text up to its first heading of the second level, and then the reference. */
export function withReference(text: string, reference: string): string {
  const [before = ""] = text.split(/^## /m);
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

/** docs/commands.md: each command with its arguments, its options and its examples. */
export function commandsReference(): string {
  const headings = [...new Set(PROGRAM.commands.map((command) => command.helpGroup()))];
  return headings
    .map((heading) => {
      const commands = PROGRAM.commands.filter((command) => command.helpGroup() === heading).flatMap(leavesOf);
      return `## ${heading.replace(/:$/, "")}\n\n${commands.map(commandText).join("\n\n")}`;
    })
    .join("\n\n");
}

function commandText(command: Command): string {
  const name = pathOf(command);
  const examples = examplesOf(command).map((example) => `kesc ${example}`);
  const options = command.options.filter(({ hidden }) => !hidden).map(optionLine);
  const lines = [...command.registeredArguments.map(argumentLine), ...options].join("\n");
  return [
    `### kesc ${name}`,
    sentence(command.description()),
    ["```bash", ...examples, "```"].join("\n"),
    ...(lines === "" ? [] : [lines]),
  ].join("\n\n");
}

function argumentLine(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  const form = argument.required ? `<${name}>` : `[${name}]`;
  return `- \`${form}\`: ${described(argument.description, argument.argChoices)}`;
}

function optionLine(option: Option): string {
  const standard = option.defaultValueDescription ?? JSON.stringify(option.defaultValue ?? null);
  const inBrackets = option.mandatory ? " (required)" : "";
  const text = described(option.description, option.argChoices);
  return `- \`${option.flags}\`${inBrackets}: ${text}${standard === "null" ? "" : ` (default: ${standard})`}`;
}

function described(description: string, choices: readonly string[] | undefined): string {
  const text = choices === undefined ? description : `${description}: ${choices.join(", ")}`;
  return text.replaceAll("<", "\\<");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
