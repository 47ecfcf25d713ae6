import type { PayoutMode } from "../../../domain/rail-account.js";
import { UsageError } from "../../../startup/operator-error.js";
import { textOf } from "../../commands/output.js";
import { formFields, type FormOptions } from "../../commands/statement-form.js";
import type { MessageJson, OneRow } from "../row.js";
import { readText, zeroOrMore } from "./parameters.js";
import type { CommandRows, Written } from "./written.js";

/** The commands of `kesc rail` that change accounts at rails. */
export const RAIL_ACT_ROWS: CommandRows = {
  "rail set": {
    description: "set an organization's account at a rail, in place of an earlier one",
    rpc: "SetRailAccount",
    examples: [
      'sandbox --org "Acme tests" --default --note "the first account"',
      'mpesa --org "Acme" --settings mpesa.json --credentials secrets.json --credentials-expire 2027-01-31 --note "the first account"',
    ],
    parameters: [
      "<rail>",
      "--org",
      "--default?",
      "--settings?",
      "--credentials?",
      "--credentials-expire?",
      "--begin-within?",
      "--confirm-above?",
      "--resolve-alone-max?",
      "--float-min?",
      "--note",
    ],
    request: async ({ given }) => ({ fields: await filesIn(given) }),
    done: ({ is_default: isDefault, trial, trial_code: code }, { say }) =>
      `Set the account of ${say("--org")} at the rail ${say("<rail>")}. Servers use it within two seconds.\n` +
      trialWords(trial, code) +
      (isDefault === true
        ? "It is the default rail: calls that name no rail use it."
        : `Calls must name it. To make it the default rail: kesc rail default ${say("<rail>")} --org ORG --note TEXT`),
  },
  "rail default": {
    description: "set the rail of calls that name none; direct: their mints are credited at once",
    rpc: "SetDefaultRail",
    examples: [
      'mpesa --org "Acme" --note "the tests have passed"',
      'direct --org "Acme" --note "M-Pesa is down for long"',
    ],
    parameters: [{ of: "<rail>", help: 'name of the rail, or "direct"' }, "--org", "--note"],
    done: "Calls of {--org} that name no rail use {<rail>}. Servers do so within two seconds.",
    unchanged: "Calls of {--org} that name no rail used {<rail>} before.",
  },
  "rail register-deposits": {
    description: "let payments without an order become deposits: registers at the rail, and requires receipts",
    rpc: "RegisterDeposits",
    examples: ['mpesa --org "Acme" --contact 0712345678 --note "the paybill is live"'],
    parameters: ["<rail>", "--org", "--contact", "--note"],
    done: ({ deposits_since: since, kept_addresses: kept }, { say }) =>
      `Payments to the account of ${say("--org")} at the rail ${say("<rail>")} are deposits since ${textOf(since)}.` +
      (kept === true ? "\nThe rail keeps addresses that it was given before. See docs/mpesa.md." : ""),
  },
  "rail open": payouts("open", {
    description: "begin payouts, whatever is unknown about earlier ones",
    examples: ['--org "Acme" --rail mpesa --note "M-Pesa is well again"'],
    done: "Payouts of {--org} over {--rail} begin, whatever is unknown.",
  }),
  "rail close": payouts("closed", {
    description: "begin no payout; redemptions are accepted and wait",
    examples: ['--org "Acme" --rail mpesa --note "M-Pesa reports 8006"'],
    done:
      "Payouts of {--org} over {--rail} do not begin. Redemptions are accepted and wait; " +
      "those that were begun go on.",
  }),
  "rail auto": payouts("auto", {
    description: "begin payouts, unless too many outcomes are unknown",
    examples: ['--org "Acme" --rail mpesa --note "as always"'],
    done: "Payouts of {--org} over {--rail} begin, unless too many outcomes are unknown.",
  }),
  "reserve record": {
    description: "record in the organization's book what lies in one place at the end of a day",
    rpc: "RecordReserve",
    examples: ['"Acme" --place "Trust account" --amount 1000000.00 --as-of 2025-12-31 --evidence "statement 12/2025"'],
    parameters: [
      "<organization>",
      "--place",
      { of: "--amount", help: "shillings in the place, such as 1000.00, or 0", parse: zeroOrMore },
      "--as-of",
      "--evidence",
      "--kind?",
      "--document?",
      "--matures-on?",
      "--note?",
    ],
    done: "Recorded {amount} in {place} at the end of {as_of_day}, in row {sequence} of the book.",
    unchanged: "The figure of {place} at the end of {as_of_day} is {amount} already.",
  },
  "reserve place": {
    description: "keep how the statements of a place are read, so that kesc reconcile --place needs no more",
    rpc: "SetReservePlace",
    examples: [
      '"Acme" --place "Trust account" --source kcb-1234 --dates day-first --reference "FT[0-9A-Z]+" --columns "date=Date,text=Description,debit=Debit,credit=Credit"',
    ],
    parameters: [
      "<organization>",
      { of: "--place", help: "a place with a figure" },
      "--source?",
      "--account-number?",
      "--columns?",
      "--dates?",
      "--reference?",
      "--note?",
    ],
    request: ({ given }) => ({
      fields: { form: formFields({ ...given, account: given["accountNumber"] } as FormOptions) ?? {} },
    }),
    done: "Statements of {place} are read so. To compare one: kesc reconcile --place NAME FILE --org ORG",
    unchanged: "Statements of {place} were read so before.",
  },
  "reserve set-rules": {
    description: "set the rules of an organization's reserve, in place of all earlier ones",
    rpc: "SetReserveRules",
    examples: ['"Acme" --file examples/reserve/rules.json --note "the draft of 2026"'],
    parameters: ["<organization>", "--file", "--note"],
    request: ({ given }) => ({ fields: { rules: rulesIn(textOf(given["file"])) } }),
    done: ({ rules }, { say }) =>
      `Set ${String((rules as readonly unknown[]).length)} rules of the reserve of ${say("<organization>")}. ` +
      "To see whether they hold: kesc supply --json",
    unchanged: "The rules of {<organization>} are so already.",
  },
};

/** A line about what the rail said to the credentials. None if nothing was tried. */
function trialWords(trial: unknown, code: unknown): string {
  switch (trial) {
    case "accepted":
      return "The rail took the credentials: it told a balance.\n";
    case "app_accepted":
      return "The rail took the app's credential. Only a server tries the initiator's, within a minute.\n";
    case "refused":
      return `THE RAIL REFUSED THE CREDENTIALS: ${textOf(code)}. Nothing is sent with them. Set the right ones, and see what works: kesc rail probe RAIL --org ORG\n`;
    case "unanswered":
      return (
        `The rail said nothing of the credentials${code === null ? " in time" : ` (${textOf(code)})`}. ` +
        "To see what works: kesc rail probe RAIL --org ORG\n"
      );
    default:
      return "";
  }
}

function payouts(mode: PayoutMode, words: Pick<OneRow, "description" | "examples" | "done">): Written<OneRow> {
  return {
    ...words,
    rpc: "SetPayouts",
    parameters: ["--org", "--rail", "--note"],
    request: () => ({ fields: { payouts: mode } }),
    unchanged: `Payouts of {--org} over {--rail} were ${mode} before, with this note.`,
  };
}

/** Reads a list of rules. The server checks each. */
function rulesIn(file: string): unknown {
  const rules = parseJson(readText(file).toString("utf8"));
  if (Array.isArray(rules)) return rules;
  throw new UsageError(`${file} must hold a JSON list of rules, such as examples/reserve/rules.json.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the files of the account. The server checks the texts, too. The rails are loaded for this
 * command only: that takes 100 ms.
 */
async function filesIn({ rail: name, settings, credentials }: MessageJson): Promise<MessageJson> {
  const [{ readCredentialsFile, readSettingsFile }, { RAILS }] = await Promise.all([
    import("../../rail/account-files.js"),
    import("../../../rails/rails.js"),
  ]);
  const rail = RAILS.find((known) => known.name === name);
  if (rail === undefined) {
    throw new UsageError(
      `There is no rail ${textOf(name)}. There are: ${RAILS.map((known) => known.name).join(", ")}. ` +
        "To use no rail: kesc rail default direct --org ORG --note TEXT",
    );
  }
  return {
    ...(typeof settings === "string" ? { settings: readSettingsFile(rail, settings) } : {}),
    ...(typeof credentials === "string" ? { credentials: readCredentialsFile(rail, credentials) } : {}),
  };
}
