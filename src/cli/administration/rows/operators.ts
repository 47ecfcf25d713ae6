import { UsageError } from "../../../startup/operator-error.js";
import { fieldLines, textOf } from "../../commands/output.js";
import { newKey } from "../operator-key.js";
import { byWords, type MessageJson, type OneRow, type Run } from "../row.js";
import { PARAMETERS } from "./parameters.js";
import { type CommandRows, rowOf } from "./written.js";

const DECIDED_BY_PERSON = "A proposal is decided by a person with a key";

const INVITED = "It works once, until {expires_at}. Give it to that person only:\n\n  {link}\n";
const LINK_LOST = "The link is lost. Run the command again.";

/** `kesc operator create --invite`. */
const INVITE = rowOf("operator create", {
  description: "invite a person to register a passkey",
  rpc: "CreateInvitation",
  parameters: ["<name>", "--role"],
  request: ({ given }) => {
    if (given["keySha256"] === undefined) return { fields: {} };
    throw new UsageError("Give --invite or --key-sha256, not both: an invited person has a passkey.");
  },
  done: `This link makes the person an operator, with a passkey. ${INVITED}`,
  adviceOnLoss: LINK_LOST,
}) as OneRow;

/** `kesc operator` and `kesc proposal`. */
export const OPERATOR_ROWS: CommandRows = {
  "operator create": {
    description: "make a person an operator; the first one in the database, on the machine that has it",
    rpc: "CreateOperator",
    examples: [
      '"Amina Odhiambo" --role admin',
      '"Brian Mwangi" --role approver --on-database --note "the second person"',
      '"Dora Achieng" --role finance --invite',
    ],
    parameters: [
      "<name>",
      "--role",
      "--invite?",
      {
        of: "--key-sha256?",
        help: `${PARAMETERS["--key-sha256 <fingerprint>"].help}; without it a key is made, and shown once`,
      },
    ],
    instead: { option: "invite", row: INVITE },
    request: madeKey,
    done: ({ id, name, roles, key }) =>
      `Created operator ${textOf(id)} ("${textOf(name)}"), ${textOf(roles)}.` +
      (key === undefined ? "" : `\n\n  ${textOf(key)}\n\nThe key is shown once and cannot be recovered.`),
    adviceOnLoss: ({ id, key }) =>
      key === undefined ? "" : `${textOf(id)} was created, but the key is lost. Replace it: kesc operator replace-key.`,
  },
  "operator list": {
    description: "list the operators",
    rpc: "ListOperators",
    columns: {
      ID: "id",
      STATE: ({ revoked_at: revokedAt }) => (revokedAt === null ? "live" : `revoked ${textOf(revokedAt)}`),
      CREATED: "created_at",
      ROLES: ({ roles }) => (roles as readonly string[]).join(","),
      PASSKEYS: ({ passkeys }) => (passkeys as readonly MessageJson[]).map(({ id }) => textOf(id)).join(","),
      NAME: "name",
    },
    leftOutIf: { PASSKEYS: "" },
    none: "No operators yet; an invited person appears after registering. Create one: kesc operator create NAME --role admin",
  },
  "operator set-roles": {
    description: "give an operator other roles",
    rpc: "SetOperatorRoles",
    examples: ['"Carol Wanjiru" --role support,approver'],
    parameters: ["<operator>", "--role"],
    done: '{id} ("{name}") is {roles}.',
  },
  "operator replace-key": {
    description: "replace the key of an operator; the old one ends at once",
    rpc: "ReplaceOperatorKey",
    examples: ['"Carol Wanjiru" --key-sha256 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'],
    parameters: ["<operator>", "--key-sha256"],
    done: 'Replaced the key of {id} ("{name}").',
    unchanged: '{id} ("{name}") has that key already.',
  },
  "operator add-passkey": {
    description: "invite an operator to register one more passkey",
    rpc: "CreateInvitation",
    examples: ['"Carol Wanjiru"'],
    parameters: ["<operator>"],
    done: `This link adds a passkey. ${INVITED}`,
    adviceOnLoss: LINK_LOST,
  },
  "operator remove-passkey": {
    description: "remove a passkey of an operator for ever; its sessions end",
    rpc: "RemovePasskey",
    examples: ['"Carol Wanjiru" 4k8m0xq2v7zt'],
    parameters: ["<operator>", "<passkey-id>"],
    done: 'Removed the passkey of {id} ("{name}").',
    unchanged: '{id} ("{name}") has no such passkey any more.',
  },
  "operator sessions": {
    description: "list who has signed in at a console",
    rpc: "ListSessions",
    columns: {
      ID: "id",
      CREATED: "created_at",
      USED: "used_at",
      UNTIL: "expires_at",
      PASSKEY: ({ passkey_id: id }) => (id === null ? "(code)" : textOf(id)),
      NAME: "operator_name",
    },
    none: "Nobody has signed in.",
  },
  "operator end-session": {
    description: "end a session at once",
    rpc: "EndSession",
    examples: ["ses_01jd2r6p5vf8ksw3xhb1z7q4ye"],
    parameters: ["<session-id>"],
    done: "The session has ended.",
    unchanged: "There is no such session.",
  },
  "operator code": {
    description: "make a code with which you sign in once, within 5 minutes",
    rpc: "CreateSignInCode",
    needsOperator: "A code is for a person with a key",
    done: "Open this page until {expires_at}, or enter the code there:\n\n  {link}\n\n  {code}\n",
  },
  "operator revoke": {
    description: "revoke an operator for ever",
    rpc: "RevokeOperator",
    examples: ['"Carol Wanjiru"'],
    parameters: ["<operator>"],
    done: '{id} ("{name}") was revoked at {revoked_at}.',
  },
  "operator acts": {
    description: "list the changes of the operators, newest first",
    rpc: "ListOperatorActs",
    examples: ["--limit 20", "--type operator.roles_changed"],
    parameters: [
      { of: "--operator?", help: "only what this operator did, and what was done to this operator" },
      "--type?",
    ],
    columns: { SEQUENCE: "sequence", RECORDED: "recorded_at", TYPE: "type", OPERATOR: "operator_id", BY: byWords },
    none: "No operators yet; an invited person appears after registering. Create one: kesc operator create NAME --role admin",
    isLong: true,
  },
  "operator whoami": {
    description: "show whose key it is",
    rpc: "WhoAmI",
    needsOperator: "The database does not know who you are",
    shows: "operator",
    onlyReads: true,
    done: 'You are {id} ("{name}"), {roles}.',
  },
  "proposal list": {
    description: "list the proposals that wait",
    rpc: "ListProposals",
    parameters: ["--all?"],
    columns: { ID: "id", STATE: "state", UNTIL: "expires_at", BY: proposerWords, ACT: actWords },
    none: "No proposal waits.",
  },
  "proposal show": {
    description: "show a proposal with all that it would do",
    rpc: "GetProposal",
    examples: ["prp_01jd2r6p5vf8ksw3xhb1z7q4ye"],
    parameters: ["<proposal-id>"],
    onlyReads: true,
    done: proposalLines,
  },
  "proposal approve": {
    description: "do what another person has proposed",
    rpc: "ApproveProposal",
    examples: ["prp_01jd2r6p5vf8ksw3xhb1z7q4ye"],
    parameters: ["<proposal-id>", "--note?"],
    needsOperator: DECIDED_BY_PERSON,
    done: (proposal) => `Done, as ${proposerWords(proposal)} proposed: ${actWords(proposal)}`,
  },
  "proposal reject": {
    description: "end a proposal; nothing is done",
    rpc: "RejectProposal",
    examples: ["prp_01jd2r6p5vf8ksw3xhb1z7q4ye"],
    parameters: ["<proposal-id>", "--note?"],
    needsOperator: DECIDED_BY_PERSON,
    done: (proposal) => `Rejected. Nothing was done: ${actWords(proposal)}`,
  },
};

/** Makes the key of an operator who gave no fingerprint. */
function madeKey({ given, isAtServer }: Run): { readonly fields: MessageJson; readonly beside?: MessageJson } {
  if (given["keySha256"] !== undefined) return { fields: {} };
  // At a server nobody but the person may ever have the key.
  if (isAtServer) {
    throw new UsageError(
      'Give the fingerprint of the person\'s key with --key-sha256. The person gets both from "kesc operator new-key".',
    );
  }
  const { secret, fingerprint } = newKey();
  return { fields: { key_sha256: fingerprint }, beside: { key: secret } };
}

const VALUE_CHARACTERS_MAX = 60;

/** Says what a proposal would do, in one line. Long values, such as a certificate, are cut. */
function actWords({ type, changes, organization_id: id, subject_id: subject }: MessageJson): string {
  const words = (changes as readonly MessageJson[]).map((change) => {
    const text = changeWords(change);
    return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
  });
  const of = [id, subject].flatMap((each) => (each === null ? [] : [` of ${textOf(each)}`]));
  return `${textOf(type)}${of.join("")}: ${words.join(", ")}`;
}

/** Says who proposed it, an operator with the id: two names can look alike. */
function proposerWords({ proposed_by: id, proposer_name: name }: MessageJson): string {
  if (id !== name) return `${textOf(name)} (${textOf(id)})`;
  return id === "operator" ? "operator" : `API key "${textOf(name)}"`;
}

/** Says what an act changes about one thing, and also what stays. */
function changeWords({ what, before, after }: MessageJson): string {
  const [old, now] = [before, after].map((text) => textOf(text) || "none");
  return `${textOf(what)}: ${before === after || before === "" ? "" : `${old ?? ""} → `}${now ?? ""}`;
}

/** The changes say in words what the content has as JSON. */
function proposalLines(proposal: MessageJson): string {
  const fields = fieldLines(proposal).filter((line) => !/^ {2}(content|changes): /.test(line));
  const lines = (proposal["changes"] as readonly MessageJson[]).map((change) => `    ${changeWords(change)}`);
  return [...fields, "  changes:", ...lines].join("\n");
}
