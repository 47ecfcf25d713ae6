import { type MessageJson, type Row, type Run, textOf } from "../row.js";
import { ANY_OWNER, EACH_ORGANIZATION, OWNER } from "./parameters.js";

const NONE = "No accounts at rails: all calls are direct. To set one: kesc rail set RAIL --org ORG --note TEXT";

/** What is read of accounts at rails. */
export const RAIL_ROWS: readonly Row[] = [
  {
    path: "rail list",
    description: "list the accounts at rails, without their credentials",
    rpc: "ListRailAccounts",
    parameters: [ANY_OWNER],
    each: EACH_ORGANIZATION,
    items: "rail_accounts",
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
  {
    path: "rail status",
    description: "show an organization's accounts at rails: payouts, open payments, credentials, balance",
    rpc: "GetRailAccount",
    parameters: [OWNER, { flags: "--rail <rail>", help: "name of the rail (default: all of them)", field: "rail" }],
    each: {
      rpc: "ListRailAccounts",
      items: "rail_accounts",
      request: ({ organization_id, rail }) => ({ fields: { organization_id, rail } }),
    },
    items: "status",
    columns: {},
    block: statusBlock,
    none: NONE,
  },
];

/** The rails are loaded for this command only: that takes 100 ms. */
async function statusBlock(status: MessageJson, { referred }: Run): Promise<string> {
  return (await import("./rail-status.js")).statusBlock(status, referred?.name ?? "");
}
