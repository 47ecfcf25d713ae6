import type { Freeze, Proposal } from "../gen/messages.js";
import { words } from "../view/values.js";
import type { Act } from "./act.js";
import { OPERATING_ACTS } from "./operating-acts.js";
import { changesIn } from "./proposal-words.js";

const status =
  (after: string): NonNullable<Act["changes"]> =>
  (before) => [["Status", textOf(before["status"]), after]];

/**
 * The server masks what was before. The console does not know for how long the service lets a new
 * number cool.
 */
const personal: NonNullable<Act["changes"]> = (before, { phone_number = "", email = "" }) => {
  const after = [["Phone number", "phone_number", phone_number] as const, ["E-mail", "email", email] as const];
  const changed = after.flatMap(([name, field, text]) =>
    text === "" ? [] : [[name, textOf(before[field]), text] as const],
  );
  const cooling = ["Payouts to the new number", "none", "after its cooling time, by default 24 hours"] as const;
  return phone_number === "" ? changed : [...changed, cooling];
};

/** The reason of a freeze lets the second person judge. */
const lift: NonNullable<Act["changes"]> = (before, { freeze_id: id }) => {
  const freezes = (before["freezes"] ?? []) as readonly Freeze[];
  const lifted = freezes.find((freeze) => freeze.id === id);
  const why = lifted === undefined ? "none" : [words(lifted.reason), lifted.note ?? ""].join(": ").replace(/: $/, "");
  return [
    ["Freeze", why, "lifted"],
    ["Status", textOf(before["status"]), freezes.length > 1 ? "frozen, by another freeze" : "active"],
  ];
};

/** Every act of the console. */
export const ACTS: readonly Act[] = [
  {
    name: "freeze",
    rpc: "AccountService/FreezeAccount",
    title: "Freeze the account",
    subject: "account_id",
    changes: status("frozen"),
  },
  {
    name: "unfreeze",
    rpc: "AccountService/UnfreezeAccount",
    title: "Unfreeze the account",
    subject: "account_id",
    given: ["freeze_id"],
    changes: lift,
  },
  {
    name: "reveal",
    rpc: "AdminService/RevealAccount",
    title: "Reveal phone number and e-mail",
    subject: "account_id",
    shows: ["phone_number", "email"],
    changes: () => [["Phone number and e-mail address", "masked", "shown to you, once"]],
  },
  {
    name: "tier",
    rpc: "AdminService/SetAccountTier",
    title: "Change the tier",
    subject: "account_id",
    changes: (before, { tier = "" }) => [["Tier", textOf(before["tier"]), tier]],
  },
  {
    name: "erase",
    rpc: "AdminService/EraseAccount",
    title: "Erase the personal data",
    subject: "account_id",
    isFinal: true,
    changes: () => [["Personal data", "kept, encrypted", "erased permanently"]],
  },
  {
    name: "update",
    rpc: "AccountService/UpdateAccount",
    title: "Change phone number or e-mail",
    subject: "account_id",
    without: ["etag"],
    changes: personal,
  },
  {
    name: "close",
    rpc: "AccountService/CloseAccount",
    title: "Close the account permanently",
    subject: "account_id",
    without: ["etag"],
    isFinal: true,
    changes: status("closed"),
  },
  {
    name: "completed",
    rpc: "TransactionService/ResolveTransaction",
    title: "Mark as completed",
    subject: "transaction_id",
    member: "completed",
    changes: status("completed"),
  },
  {
    name: "failed",
    rpc: "TransactionService/ResolveTransaction",
    title: "Mark as failed",
    subject: "transaction_id",
    member: "failed",
    changes: status("failed"),
  },
  {
    name: "moved",
    rpc: "TransactionService/ResolveTransaction",
    title: "Record another amount",
    subject: "transaction_id",
    member: "moved",
    changes: (before, { amount = "" }) => [["Amount that moved", textOf(before["amount"]), amount]],
  },
  {
    name: "clear-flag",
    rpc: "TransactionService/ClearFlag",
    title: "Clear a flag",
    subject: "transaction_id",
    given: ["flag"],
  },
  {
    name: "release",
    rpc: "AdminService/ReleaseTransaction",
    title: "Release the payout",
    subject: "transaction_id",
    changes: () => [["Payout", "waits for a person", "goes to its rail"]],
  },
  {
    name: "refuse",
    rpc: "AdminService/RefuseTransaction",
    title: "Refuse the payout",
    subject: "transaction_id",
    isFinal: true,
    changes: status("failed"),
  },
  {
    name: "cancel",
    rpc: "TransactionService/CancelTransaction",
    title: "Cancel the payment",
    subject: "transaction_id",
    changes: status("canceled"),
  },
  {
    name: "reverse",
    rpc: "TransactionService/ReverseTransaction",
    title: "Reverse in full",
    subject: "transaction_id",
    member: "receipt",
    changes: (before) => [["Reversed by", "nothing", `a new transaction of ${textOf(before["amount"])} KESC`]],
  },
  {
    name: "assign",
    rpc: "AdminService/AssignDeposit",
    title: "Assign to an account",
    subject: "deposit_id",
    changes: status("credited"),
  },
  {
    name: "return",
    rpc: "AdminService/ReturnDeposit",
    title: "Return to the payer",
    subject: "deposit_id",
    changes: (_before, { through_rail: asked }) => [
      ["Status", "unallocated", asked === "true" ? "returning" : "returned"],
    ],
  },
  {
    name: "unassign",
    rpc: "AdminService/UnassignDeposit",
    title: "Unassign the deposit",
    subject: "deposit_id",
    changes: status("unallocated"),
  },
  {
    name: "reverse-deposit",
    rpc: "AdminService/ReverseDeposit",
    title: "Mark as reversed by the rail",
    subject: "deposit_id",
    changes: status("reversed"),
  },
  { name: "record-deposit", rpc: "AdminService/RecordDeposit", title: "Record a deposit" },
  {
    name: "reserve",
    rpc: "AdminService/RecordReserve",
    title: "Record a reserve balance",
    without: ["matures_on"],
    about: "place",
    changes: (before, { place = "", amount = "" }) => [
      ...(before["place"] === undefined ? [["Place", "none with this name", place] as const] : []),
      ["Amount", textOf(before["amount"]) || "none", amount],
    ],
  },
  { name: "transfer", rpc: "AdminService/ExplainTransfer", title: "Explain a transfer" },
  { name: "paid", rpc: "AdminService/BookPayment", title: "Book a payment without an order" },
  { name: "adjust", rpc: "AdminService/AdjustMovement", title: "Adjust a movement" },
  { name: "recover", rpc: "AdminService/RecoverShortfall", title: "Recover a shortfall", subject: "account_id" },
  { name: "cover", rpc: "AdminService/CoverShortfall", title: "Cover a shortfall" },
  {
    name: "approve",
    rpc: "AdminService/ApproveProposal",
    title: "Approve",
    subject: "proposal_id",
    changes: (before) => changesIn(before as Proposal),
  },
  { name: "reject", rpc: "AdminService/RejectProposal", title: "Reject", subject: "proposal_id" },
  {
    name: "revoke-key",
    rpc: "AdminService/RevokeApiKey",
    title: "Revoke the key",
    subject: "api_key_id",
    isFinal: true,
  },
  {
    name: "revoke-operator",
    rpc: "AdminService/RevokeOperator",
    title: "Revoke access",
    subject: "operator_id",
    isFinal: true,
  },
  {
    name: "invite",
    rpc: "SessionService/CreateInvitation",
    title: "Invite a person",
    without: ["operator_id"],
    shows: ["link"],
  },
  {
    name: "invite-passkey",
    rpc: "SessionService/CreateInvitation",
    title: "Invite to another passkey",
    subject: "operator_id",
    without: ["name", "roles"],
    shows: ["link"],
  },
  { name: "remove-passkey", rpc: "SessionService/RemovePasskey", title: "Remove the passkey", subject: "passkey_id" },
  { name: "end-session", rpc: "SessionService/EndSession", title: "End the session", subject: "session_id" },
  ...OPERATING_ACTS,
];

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
