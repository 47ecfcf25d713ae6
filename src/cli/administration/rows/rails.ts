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
};

/** The rails are loaded for this command only: that takes 100 ms. */
async function statusBlock(status: MessageJson, { referred }: Run): Promise<string> {
  return (await import("./rail-status.js")).statusBlock(status, referred?.name ?? "");
}
