import { REVEAL_REASONS } from "../../../domain/accounts/reveal-account.js";
import { FREEZE_REASONS } from "../../../domain/freeze.js";
import { parseFreezeId } from "../../../domain/values/ids.js";
import { tierName } from "../../commands/arguments.js";
import { type Row, textOf } from "../row.js";
import { ACCOUNT, idArgument, NOTE, OWNER } from "./parameters.js";

/** What operators see and change of users, beside the calls with a key of the organization. */
export const ACCOUNT_ROWS: readonly Row[] = [
  {
    path: "account reveal",
    description: "show the phone number and the e-mail address of an account's user; the book notes who looked and why",
    rpc: "RevealAccount",
    parameters: [
      ACCOUNT,
      OWNER,
      {
        flags: "--reason <reason>",
        help: `why: ${REVEAL_REASONS.join(", ")}`,
        field: "reason",
        required: true,
        parse: (text) => text.toLowerCase(),
      },
      NOTE,
    ],
    shows: undefined,
    done: ({ phone_number: phone, email }) =>
      [`Phone number: ${textOf(phone)}`, `E-mail address: ${textOf(email) || "none"}`].join("\n"),
    adviceOnLoss: "To see it, reveal it again. That is another row of the book.",
  },
  {
    path: "account update",
    description: "change the phone number or the e-mail address of an account's user",
    rpc: "UpdateAccount",
    parameters: [
      ACCOUNT,
      OWNER,
      { flags: "--phone-number <number>", help: "the new phone number, such as 0712345678", field: "phone_number" },
      { flags: "--email <address>", help: 'the new e-mail address; "" removes it', field: "email" },
    ],
    shows: "account",
    done: "Changed {id}. It now has the phone number {phone_number}.",
    unchanged: "{id} has these values already.",
  },
  {
    path: "account close",
    description: "close an empty account for ever; its user can get a new one",
    rpc: "CloseAccount",
    parameters: [ACCOUNT, OWNER, NOTE],
    shows: "account",
    intent: (_shown, { given }) =>
      `This would close ${textOf(given["accountId"])} for ever. Nothing was done. To close it, add --yes.`,
    done: "Closed {id}.",
    unchanged: "{id} was closed before.",
  },
  {
    path: "account freeze",
    description: "add a freeze to an account: it refuses new mints and redemptions until each is lifted",
    rpc: "FreezeAccount",
    parameters: [
      ACCOUNT,
      OWNER,
      {
        flags: "--reason <reason>",
        help: `why: ${FREEZE_REASONS.map((reason) => reason.toLowerCase()).join(", ")}`,
        field: "reason",
        required: true,
        parse: (text) => text.toLowerCase(),
      },
      NOTE,
    ],
    shows: "freeze",
    done: (freeze, { given }) => `Froze ${textOf(given["accountId"])}: ${textOf(freeze["id"])}.`,
    unchanged: "The freeze {id} stands already.",
  },
  {
    path: "account unfreeze",
    description: "lift a freeze of an account",
    rpc: "UnfreezeAccount",
    parameters: [
      ACCOUNT,
      OWNER,
      {
        flags: "--freeze <freeze-id>",
        help: 'id of the freeze ("frz_…")',
        field: "freeze_id",
        required: true,
        parse: idArgument("freeze", parseFreezeId, "To see them: kesc account get"),
      },
      NOTE,
    ],
    shows: "account",
    done: (account, { given }) => `Lifted ${textOf(given["freeze"])} of ${textOf(account["id"])}.`,
    unchanged: (account, { given }) => `${textOf(given["freeze"])} of ${textOf(account["id"])} was lifted before.`,
  },
  {
    path: "account tier",
    description: "move an account to another tier, whose limits hold for it",
    rpc: "SetAccountTier",
    parameters: [
      ACCOUNT,
      OWNER,
      {
        flags: "--tier <name>",
        help: "a tier that has limits, or default",
        field: "tier",
        required: true,
        parse: tierName,
      },
      NOTE,
    ],
    shows: "account",
    done: (account, { given }) => `Account ${textOf(account["id"])} now has the tier ${textOf(given["tier"])}.`,
    unchanged: (account, { given }) =>
      `Account ${textOf(account["id"])} has the tier ${textOf(given["tier"])} already.`,
  },
  {
    path: "account erase",
    description: "erase the personal data of an account's user for ever; the books stay",
    rpc: "EraseAccount",
    parameters: [ACCOUNT, OWNER, NOTE],
    shows: "account",
    intent: (_shown, { given }) =>
      `This would erase the user_id, the phone number and the e-mail address of ${textOf(given["accountId"])} for ever. ` +
      "The account, its transactions and its journal rows would stay. Nothing was done. To erase, add --yes.",
    done:
      "Erased the personal data of {id}. The account and its books stay.\n" +
      "The files of the database still hold the old bytes. To remove them, where the database is: kesc account vacuum",
    unchanged: "The personal data of {id} was erased before.",
  },
  {
    path: "account export",
    description: "print everything that is stored about an account's user",
    rpc: "ExportAccount",
    parameters: [ACCOUNT, OWNER],
    parts: { account: "account", freezes: "freeze", transactions: "transaction", journal_rows: "journal" },
  },
];
