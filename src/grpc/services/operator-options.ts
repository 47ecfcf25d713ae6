import type { ServiceReply, StandingCheck } from "../../checks/ports.js";
import type { Organization } from "../../domain/api-key.js";
import type { Rail } from "../../domain/transaction.js";
import type { OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { Parsed } from "../../domain/values/parsed.js";
import type { Administration } from "../../operators/ports.js";
import type { DepositRegistration, RailChanges, RailProbes, RailReads } from "../../operators/rails.js";
import type { BookOwner, BookReads } from "../../operators/reads.js";
import type { SignIn } from "../../operators/sign-in.js";
import type { BankPayments, PayoutFiles, PayoutLists } from "../../payouts/ports.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import type { SealKeys } from "../../seals/key-file.js";
import type { SealReads } from "../../seals/ports.js";
import type { ListTurns } from "../calls/list-turns.js";
import type { FileReading } from "./files/file-reading.js";
import type { ServedCell } from "./served-cell.js";

/** What seals books. */
export interface BookSeals {
  /** Names the service in the names of the logs. */
  readonly origin: string;
  /** Returns the keys of the seal key file. Undefined if there is no file. */
  readonly keys: () => SealKeys | undefined;
  readonly reads: (organization: Pick<Organization, "cell">) => SealReads;
}

/** What the rpcs about checks of payouts need. */
export interface PayoutCheckParts {
  /** Parses the address of a service. The server allows hosts as it does for webhooks. */
  readonly parseUrl: (unchecked: string) => Parsed<string>;
  readonly standing: (organization: BookOwner) => Promise<StandingCheck | undefined>;
  /** Asks the service about no payout, once at a time. */
  readonly test: (organizationId: OrganizationId, standing: StandingCheck) => Promise<ServiceReply>;
}

/** What the handlers need. */
export interface HandlersOptions {
  readonly administration: Administration;
  /** What the book of an organization has of a rail. */
  readonly bookedMovements: (organization: BookOwner, rail: Rail) => Promise<BookedMovements>;
  readonly bookReads: BookReads;
  readonly bankPayments: BankPayments;
  /** Returns the cell of an organization, whose ledger the server has for all calls. */
  readonly cellOf: (
    organization: Pick<Organization, "cell">,
  ) => Pick<ServedCell, "ledger" | "reads" | "history" | "railAccounts">;
  readonly depositRegistration: DepositRegistration;
  /** The release of KESC that runs. */
  readonly kescVersion: string;
  /** The turns of the organizations' lists. */
  readonly listTurns: ListTurns;
  readonly newTransactionId: () => TransactionId;
  readonly now: () => number;
  readonly payoutChecks: PayoutCheckParts;
  readonly payoutFiles: PayoutFiles;
  readonly payoutLists: PayoutLists;
  /** Nothing is paid out to a phone number that was changed less than this time ago. */
  readonly phoneCoolingMillis: number;
  readonly railChanges: RailChanges;
  readonly railProbes: RailProbes;
  readonly railReads: RailReads;
  readonly seals: BookSeals;
  readonly signIn: SignIn;
  /** Reads the files of all callers, one after another. */
  readonly fileReading: FileReading;
}
