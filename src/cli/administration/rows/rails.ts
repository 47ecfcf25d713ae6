import { textOf } from "../../commands/output.js";
import { type MessageJson, type Run } from "../row.js";
import { ANY_ORGANIZATION, EACH_ORGANIZATION } from "./each-organization.js";
import type { CommandRows } from "./written.js";

const NONE = "No accounts at rails: all calls are direct. To set one: kesc rail set RAIL --org ORG --note TEXT";

/** What is read of accounts at rails. */
export const RAIL_ROWS: CommandRows = {
  "rail list": {
    description: "list the accounts at rails, without their credentials",
    rpc: "ListRailAccounts",
    parameters: [ANY_ORGANIZATION],
    each: EACH_ORGANIZATION,
    columns: {
      ORGANIZATION: "organization_id",
      RAIL: "rail",
      DEFAULT: ({ is_default: isDefault }) => (isDefault === true ? "yes" : "no"),
      PAYOUTS: "payouts",
      "CREDENTIALS EXPIRE": ({ credentials_expire_at: at }) => textOf(at ?? "never"),
      NAME: "organization_name",
    },
    none: NONE,
  },
  "rail status": {
    description: "show an organization's accounts at rails: payouts, open payments, credentials, balance",
    rpc: "GetRailAccount",
    examples: ['--org "Acme"'],
    parameters: ["--org", { of: "--rail?", help: "name of the rail (default: all of them)" }],
    each: {
      rpc: "ListRailAccounts",
      items: "rail_accounts",
      request: ({ organization_id, rail }) => ({ fields: { organization_id, rail } }),
    },
    columns: {},
    block: statusBlock,
    none: NONE,
  },
  "rail probe": {
    description: "ask the rail about each product of an account, in ways that move nothing",
    rpc: "ProbeRailAccount",
    examples: ['mpesa --org "Acme"'],
    parameters: ["<rail>", "--org"],
    columns: {},
    block: (probed) => Promise.resolve(probedWords(probed)),
    none: "The rail {<rail>} has nothing to ask about.",
  },
};

const RESULT_WORDS: Readonly<Record<string, string>> = {
  works: "works",
  lacking: "LACKING",
  wrong: "WRONG",
  unanswered: "NO ANSWER",
  not_asked: "not asked",
};
const RESULT_CHARACTERS = 11;

function probedWords({ product, result, code, place, advice }: MessageJson): string {
  const where = [code, place].filter((each) => each !== null).map(textOf);
  const behind = where.length === 0 ? "" : ` (${where.join(", ")})`;
  const line = `${(RESULT_WORDS[textOf(result)] ?? textOf(result)).padEnd(RESULT_CHARACTERS)}${textOf(product)}${behind}`;
  return advice === null ? line : `${line}\n${" ".repeat(RESULT_CHARACTERS)}${textOf(advice)}`;
}

/** The rails are loaded for this command only: that takes 100 ms. */
async function statusBlock(status: MessageJson, { referred }: Run): Promise<string> {
  return (await import("./rail-status.js")).statusBlock(status, referred?.name ?? "");
}
