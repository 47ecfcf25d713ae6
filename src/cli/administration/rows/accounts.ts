import { REVEAL_REASONS } from "../../../domain/accounts/reveal-account.js";
import { FREEZE_REASONS } from "../../../domain/freeze.js";
import { textOf } from "../../commands/output.js";
import { choice } from "./parameters.js";
import type { CommandRows } from "./written.js";

/** What operators see and change of users, beside the calls with a key of the organization. */
export const ACCOUNT_ROWS: CommandRows = {
  "account reveal": {
    description: "show the phone number and the e-mail address of an account's user; the book notes who looked and why",
    rpc: "RevealAccount",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --reason customer_called --org "Acme" --note "case 17"'],
    parameters: ["<account-id>", "--org", { of: "--reason", help: choice("why", REVEAL_REASONS) }, "--note"],
    done: ({ phone_number: phone, email }) =>
      [`Phone number: ${textOf(phone)}`, `E-mail address: ${textOf(email) || "none"}`].join("\n"),
    adviceOnLoss: "To see it, reveal it again. That is another row of the book.",
  },
  "account update": {
    description:
      "change the phone number or the e-mail address of an account's user; nothing is paid to a new number at first",
    rpc: "UpdateAccount",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --phone-number 0712345679 --org "Acme"'],
    parameters: ["<account-id>", "--org", "--phone-number?", "--email?"],
    done: "Changed {id}. It now has the phone number {phone_number}.",
    unchanged: "{id} has these values already.",
  },
  "account destinations": {
    description: "list where shillings of an account can be paid out to, with the rail's name beside the label",
    rpc: "ListDestinations",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme"'],
    parameters: ["<account-id>", "--org"],
    columns: {
      ID: "id",
      KIND: "kind",
      NUMBER: "masked_number",
      LABEL: "label",
      "RAIL'S NAME": "rail_name",
      DIFFERS: "rail_name_differs",
      USABLE: "usable_at",
      REMOVED: "removed_at",
    },
    none: "The account has no destination: only its own phone number is paid.",
  },
  "account close": {
    description: "close an empty account for ever; its user can get a new one",
    rpc: "CloseAccount",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "the user left" --yes'],
    parameters: ["<account-id>", "--org", "--note"],
    intent: "This would close {<account-id>} for ever.",
    done: "Closed {id}.",
    unchanged: "{id} was closed before.",
  },
  "account freeze": {
    description: "add a freeze to an account: it refuses new mints and redemptions until each is lifted",
    rpc: "FreezeAccount",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --reason fraud --org "Acme" --note "case 17"'],
    parameters: ["<account-id>", "--org", { of: "--reason", help: choice("why", FREEZE_REASONS) }, "--note"],
    shows: "freeze",
    done: "Froze {<account-id>}: {id}.",
    unchanged: "The freeze {id} stands already.",
  },
  "account unfreeze": {
    description: "lift a freeze of an account",
    rpc: "UnfreezeAccount",
    examples: [
      'acc_01jd2r6p5vf8ksw3xhb1z7q4ye --freeze frz_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "case 17 is closed"',
    ],
    parameters: ["<account-id>", "--org", "--freeze", "--note"],
    shows: "account",
    done: "Lifted {--freeze} of {id}.",
    unchanged: "{--freeze} of {id} was lifted before.",
  },
  "account tier": {
    description: "move an account to another tier, whose limits hold for it",
    rpc: "SetAccountTier",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --tier full --note "passport checked"'],
    parameters: ["<account-id>", "--org", "--tier", "--note"],
    done: "Account {id} now has the tier {--tier}.",
    unchanged: "Account {id} has the tier {--tier} already.",
  },
  "account erase": {
    description: "erase the personal data of an account's user for ever; the books stay",
    rpc: "EraseAccount",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "request 17" --yes'],
    parameters: ["<account-id>", "--org", "--note"],
    intent:
      "This would erase the user_id, the phone number and the e-mail address of {<account-id>} for ever. " +
      "The account, its transactions and its journal rows would stay.",
    done:
      "Erased the personal data of {id}. The account and its books stay.\n" +
      "The files of the database still hold the old bytes. To remove them, where the database is: kesc account vacuum",
    unchanged: "The personal data of {id} was erased before.",
  },
  "account export": {
    description: "print everything that is stored about an account's user",
    rpc: "ExportAccount",
    examples: ['acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --json'],
    parameters: ["<account-id>", "--org"],
    parts: {
      account: "account",
      freezes: "freeze",
      destinations: "destination",
      transactions: "transaction",
      journal_rows: "journal",
    },
  },
};
