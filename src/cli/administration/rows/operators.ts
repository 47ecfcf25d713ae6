import { parseProposalId } from "../../../domain/values/ids.js";
import { parseFingerprint, parseOperatorName, parsePasskeyId, parseRoles, ROLES } from "../../../operators/operator.js";
import { UsageError } from "../../../startup/operator-error.js";
import { fieldLines } from "../../commands/output.js";
import { newKey } from "../operator-key.js";
import { type CommandParameter, type MessageJson, type OneRow, type Row, type Run, textOf } from "../row.js";
import { argument, byWords, idArgument, NOTE } from "./parameters.js";

const ROLE = {
  flags: "--role <roles>",
  help: `what the person may do: some of ${ROLES.join(",")}`,
  field: "roles",
  required: true,
  parse: argument((text) => parseRoles(text.split(",").map((word) => word.trim()))),
} as const satisfies CommandParameter;

const FINGERPRINT = {
  flags: "--key-sha256 <fingerprint>",
  help: 'fingerprint of the person\'s key, from "kesc operator new-key"',
  field: "key_sha256",
  parse: argument(parseFingerprint),
} as const satisfies CommandParameter;

const OPERATOR = {
  flags: "<operator>",
  help: "id or name of the operator",
  field: "operator_id",
  refersTo: "operator",
} as const satisfies CommandParameter;

const PROPOSAL = {
  flags: "<proposal-id>",
  help: 'id of the proposal ("prp_…")',
  field: "proposal_id",
  parse: idArgument("proposal", parseProposalId, "To list the proposals: kesc proposal list"),
} as const satisfies CommandParameter;

const DECIDED_BY_PERSON = "A proposal is decided by a person with a key";

const NAME = {
  flags: "<name>",
  help: "name of the person, which no other had",
  field: "name",
  parse: argument(parseOperatorName),
} as const satisfies CommandParameter;

const INVITED = "It works once, until {expires_at}. Give it to that person only:\n\n  {link}\n";
const LINK_LOST = "The link is lost. Run the command again.";

/** `kesc operator create --invite`. */
const INVITE: OneRow = {
  path: "operator create",
  description: "invite a person to register a passkey",
  rpc: "CreateInvitation",
  parameters: [NAME, ROLE],
  request: ({ given }) => {
    if (given["keySha256"] === undefined) return { fields: {} };
    throw new UsageError("Give --invite or --key-sha256, not both: an invited person has a passkey.");
  },
  shows: undefined,
  done: `This link makes the person an operator, with a passkey. ${INVITED}`,
  adviceOnLoss: LINK_LOST,
};

/** `kesc operator` and `kesc proposal`. */
export const OPERATOR_ROWS: readonly Row[] = [
  {
    path: "operator create",
    description: "make a person an operator; the first one in the database, on the machine that has it",
    rpc: "CreateOperator",
    parameters: [
      NAME,
      ROLE,
      { flags: "--invite", help: "print a link with which the person registers a passkey, and has no key" },
      { ...FINGERPRINT, help: `${FINGERPRINT.help}; without it a key is made, and shown once` },
    ],
    instead: { option: "invite", row: INVITE },
    request: madeKey,
    shows: "operator",
    done: ({ id, name, roles, key }) =>
      `Created operator ${textOf(id)} ("${textOf(name)}"), ${textOf(roles)}.` +
      (key === undefined ? "" : `\n\n  ${textOf(key)}\n\nThe key is shown once and cannot be recovered.`),
    adviceOnLoss: ({ id, key }) =>
      key === undefined ? "" : `${textOf(id)} was created, but the key is lost. Replace it: kesc operator replace-key.`,
  },
  {
    path: "operator list",
    description: "list the operators",
    rpc: "ListOperators",
    items: "operators",
    columns: {
      ID: "id",
      STATE: ({ revoked_at: revokedAt }) => (revokedAt === null ? "live" : `revoked ${textOf(revokedAt)}`),
      CREATED: "created_at",
      ROLES: ({ roles }) => (roles as readonly string[]).join(","),
      PASSKEYS: ({ passkeys }) => (passkeys as readonly MessageJson[]).map(({ id }) => textOf(id)).join(","),
      NAME: "name",
    },
    leftOutIf: { PASSKEYS: "" },
    none: "No operators yet. Create one: kesc operator create NAME --role admin",
  },
  {
    path: "operator set-roles",
    description: "give an operator other roles",
    rpc: "SetOperatorRoles",
    parameters: [OPERATOR, ROLE],
    shows: "operator",
    done: '{id} ("{name}") is {roles}.',
  },
  {
    path: "operator replace-key",
    description: "replace the key of an operator; the old one ends at once",
    rpc: "ReplaceOperatorKey",
    parameters: [OPERATOR, { ...FINGERPRINT, required: true }],
    shows: "operator",
    done: 'Replaced the key of {id} ("{name}").',
    unchanged: '{id} ("{name}") has that key already.',
  },
  {
    path: "operator add-passkey",
    description: "invite an operator to register one more passkey",
    rpc: "CreateInvitation",
    parameters: [OPERATOR],
    shows: undefined,
    done: `This link adds a passkey. ${INVITED}`,
    adviceOnLoss: LINK_LOST,
  },
  {
    path: "operator remove-passkey",
    description: "remove a passkey of an operator for ever; its sessions end",
    rpc: "RemovePasskey",
    parameters: [
      OPERATOR,
      { flags: "<passkey-id>", help: "id of the passkey", field: "passkey_id", parse: argument(parsePasskeyId) },
    ],
    shows: "operator",
    done: 'Removed the passkey of {id} ("{name}").',
    unchanged: '{id} ("{name}") has no such passkey any more.',
  },
  {
    path: "operator sessions",
    description: "list who has signed in at a console",
    rpc: "ListSessions",
    items: "sessions",
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
  {
    path: "operator end-session",
    description: "end a session at once",
    rpc: "EndSession",
    parameters: [{ flags: "<session-id>", help: 'id of the session ("ses_…")', field: "session_id" }],
    shows: undefined,
    done: "The session has ended.",
    unchanged: "There is no such session.",
  },
  {
    path: "operator code",
    description: "make a code with which you sign in once, within 5 minutes",
    rpc: "CreateSignInCode",
    needsOperator: "A code is for a person with a key",
    shows: undefined,
    done: "Open this page until {expires_at}, or enter the code there:\n\n  {link}\n\n  {code}\n",
  },
  {
    path: "operator revoke",
    description: "revoke an operator for ever",
    rpc: "RevokeOperator",
    parameters: [OPERATOR],
    shows: "operator",
    done: '{id} ("{name}") was revoked at {revoked_at}.',
  },
  {
    path: "operator acts",
    description: "list the changes of the operators, newest first",
    rpc: "ListOperatorActs",
    items: "acts",
    columns: { SEQUENCE: "sequence", RECORDED: "recorded_at", TYPE: "type", OPERATOR: "operator_id", BY: byWords },
    none: "No operators yet. Create one: kesc operator create NAME --role admin",
    isLong: true,
  },
  {
    path: "operator whoami",
    description: "show whose key it is",
    rpc: "WhoAmI",
    needsOperator: "The database does not know who you are",
    shows: "operator",
    onlyReads: true,
    done: 'You are {id} ("{name}"), {roles}.',
  },
  {
    path: "proposal list",
    description: "list the proposals that wait",
    rpc: "ListProposals",
    parameters: [{ flags: "--all", help: "also those that were decided, or have lapsed", field: "include_closed" }],
    items: "proposals",
    columns: { ID: "id", STATE: "state", UNTIL: "expires_at", BY: "proposer_name", ACT: actWords },
    none: "No proposal waits.",
  },
  {
    path: "proposal show",
    description: "show a proposal with all that it would do",
    rpc: "GetProposal",
    parameters: [PROPOSAL],
    shows: "proposal",
    onlyReads: true,
    done: proposalLines,
  },
  {
    path: "proposal approve",
    description: "do what another person has proposed",
    rpc: "ApproveProposal",
    parameters: [PROPOSAL, { ...NOTE, required: undefined }],
    needsOperator: DECIDED_BY_PERSON,
    shows: "proposal",
    done: (proposal) => `Done, as ${textOf(proposal["proposer_name"])} proposed: ${actWords(proposal)}`,
  },
  {
    path: "proposal reject",
    description: "end a proposal; nothing is done",
    rpc: "RejectProposal",
    parameters: [PROPOSAL, { ...NOTE, required: undefined }],
    needsOperator: DECIDED_BY_PERSON,
    shows: "proposal",
    done: (proposal) => `Rejected. Nothing was done: ${actWords(proposal)}`,
  },
];

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
