import type { Job } from "../load/job.js";
import type { Tally } from "../load/tally.js";
import type { Service } from "../servers/service.js";

/** The target of an attack, and what the hostile caller has. */
export interface HostileJob<Name extends string = string> {
  attack: Name;
  /** "host:port" of the server and of the gateway. */
  grpcAddress: string;
  httpAddress: string;
  /** Valid keys of one organization. */
  keys: readonly [string, ...string[]];
  accountIds: string[];
  /** A token of a callback about one transaction, and a transaction with a payment. */
  callbackToken: string;
  /** Tokens of the addresses for payments by hand, and the deposit reference of an account. */
  confirmationToken: string;
  validationToken: string;
  depositReference: string;
  paidTransactionId: string;
  /** The `kesc` command, and the database of the server. */
  kesc: string;
  databaseUrl: string;
  /** Undefined: no row has an operator who is hostile. */
  operator?: HostileOperator | undefined;
}

/** What a hostile operator has. */
export interface HostileOperator {
  /** "host:port" of the operators' address. */
  address: string;
  /** The key of a person with every role. */
  key: string;
  /** The values of fields, by their names, that name a thing of one organization. */
  things: Record<string, string>;
}

/** The parts that an attack works with. */
export interface Attack {
  hostile: HostileJob;
  job: Job;
  tally: Tally;
}

/** The attack "mints" on a service: 10,000 calls in flight. */
export function mintsWithoutEnd({ program, kesc, apiKey, accountIds, databaseUrl }: Service): HostileJob<"mints"> {
  const target = { grpcAddress: program.address, httpAddress: "", kesc, databaseUrl };
  return {
    attack: "mints",
    ...target,
    keys: [apiKey],
    accountIds,
    callbackToken: "",
    confirmationToken: "",
    validationToken: "",
    depositReference: "",
    paidTransactionId: "",
  };
}
