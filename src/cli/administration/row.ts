import { type StyleOf, textOf } from "../commands/output.js";

/** The fields of a message, as contract/json writes them. */
export type MessageJson = Readonly<Record<string, unknown>>;

/** One argument or option of a command. */
export interface CommandParameter {
  /** "<name>" is an argument, "--name <name>" an option with a value, and "--name" one without. */
  readonly flags: string;
  readonly help: string;
  /** The field of the request. Without one, only `request` of the row reads the value. */
  readonly field?: string | undefined;
  /** Whether the option must be given. An argument always must. */
  readonly required?: true | undefined;
  /** Returns the value of the field. Throws an error that Commander prints, or an OperatorError. */
  readonly parse?: (text: string) => unknown;
  /** Whether the call sends the value as its idempotency key. */
  readonly isIdempotencyKey?: true;
  /** The text is an id or a name of this resource. The request has the id. */
  readonly refersTo?: ReferredResource;
}

export type ReferredResource = "organization" | "operator";

/** The resource that an argument or an option names. */
export interface NamedResource {
  readonly id: string;
  readonly name: string;
}

/** One run of a command. */
export interface Run {
  /** The values by their parameters: "expiresIn" for "--expires-in". */
  readonly given: MessageJson;
  /** Undefined if no parameter refers to a resource. */
  readonly referred: NamedResource | undefined;
  /**
   * Returns what was given for "--tier" or "<rail>". A parameter that refers to a resource is said
   * as its id with its name.
   */
  readonly say: (name: string) => string;
  /** Whether a server does it, and not this process in the database. */
  readonly isAtServer: boolean;
}

/**
 * A text with fields and parameters in braces, such as "Lifted {--freeze} of {id}.", or a function
 * that makes the text.
 */
export type Words = string | ((shown: MessageJson, run: Run) => string);

interface AnyRow {
  /** The command, such as "org create". */
  readonly path: string;
  readonly description: string;
  readonly rpc: string;
  /** Arguments and options, as each example has them. Undefined: one example, without any. */
  readonly examples?: readonly string[];
  readonly parameters?: readonly CommandParameter[];
  /** Why only an operator can call it. Undefined: the database can do it, too. */
  readonly needsOperator?: string;
}

/** The fields of a request, and those that are shown beside its response. */
export interface RowRequest {
  readonly fields: MessageJson;
  readonly beside?: MessageJson;
}

/** A command whose rpc returns one resource. */
export interface OneRow extends AnyRow {
  /**
   * The field of the response with the resource, or null for the response itself. Undefined: the
   * only message of the response, or the response itself if there is no such one.
   */
  readonly shows?: string | null;
  /** Whether the rpc only reads. A test compares it with the contract. */
  readonly onlyReads?: true;
  /**
   * Returns the fields of the request that no parameter alone can fill, and those that are shown
   * although no response has them.
   */
  readonly request?: (run: Run) => RowRequest | Promise<RowRequest>;
  /** What a run without --yes would do, in sentences. Undefined: there is no such option. */
  readonly intent?: Words;
  readonly done: Words;
  /** Printed in place of `done` if the response says `unchanged`. */
  readonly unchanged?: Words;
  /** Printed behind the words about a proposal. */
  readonly proposed?: Words;
  /** What to do if the output is lost. "": nothing. */
  readonly adviceOnLoss?: Words;
  /** The row that runs in place of this one if the option is given. */
  readonly instead?: { readonly option: string; readonly row: OneRow };
  /** Does a case by hand that no rpc serves. Returns undefined in all other cases. */
  readonly byHand?: (given: MessageJson) => Promise<void> | undefined;
}

/** A command that lists resources. */
export interface ListRow extends AnyRow {
  /** Undefined: one call, which has all fields from the parameters. */
  readonly each?: Each;
  /**
   * The fields of the response with the resources, or a function that makes the rows of the only
   * page. Undefined: the only list of messages, or the only message.
   */
  readonly items?: readonly string[] | ((response: MessageJson) => readonly MessageJson[]);
  /** The field of each column, or its text, by the heading. */
  readonly columns: Readonly<Record<string, string | ((item: MessageJson) => string)>>;
  /** Printed about each item, in place of a table. */
  readonly block?: (item: MessageJson, run: Run) => Promise<string>;
  /** A column is left out if all its cells have this text. */
  readonly leftOutIf?: Readonly<Record<string, string>>;
  readonly style?: StyleOf;
  /** Printed in place of an empty table. */
  readonly none: Words;
  /** Whether the list is long, so that the option --limit bounds it. */
  readonly isLong?: true;
}

/** One call for each item of another list. Parameters choose some of them. */
export interface Each {
  readonly rpc: string;
  /** The repeated field of its response. */
  readonly items: string;
  /** Returns why no call is about an item. Undefined if one is. */
  readonly leavesOut?: (item: MessageJson) => string | undefined;
  /** Returns the fields of the call about an item, and those that are shown beside its response. */
  readonly request: (item: MessageJson) => RowRequest;
}

/** A command whose rpc returns a stream. It prints each message as it comes. */
export interface StreamRow extends AnyRow {
  /** The type of the parts in each field of a message, such as "freeze" for "freezes". */
  readonly parts: Readonly<Record<string, string>>;
}

export type Row = OneRow | ListRow | StreamRow;

export function isList(row: Row): row is ListRow {
  return "columns" in row;
}

export function isStream(row: Row): row is StreamRow {
  return "parts" in row;
}

/** Whether the rpc of a row only reads. */
export function onlyReads(row: Row): boolean {
  return isList(row) || isStream(row) || row.onlyReads === true;
}

/** Returns the name of a parameter: "--expires-in" for "--expires-in <duration>". */
export function nameOf({ flags }: Pick<CommandParameter, "flags">): string {
  return flags.replace(/ .*/, "");
}

/** Returns the name of a parameter's value: "expiresIn" for "--expires-in <duration>". */
export function keyOf({ flags }: Pick<CommandParameter, "flags">): string {
  const [, name = ""] = /([a-z][a-z0-9-]*)/.exec(flags) ?? [];
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const IN_BRACES = /\{([a-z_]+|--[a-z0-9-]+|<[a-z0-9-]+>)\}/g;

/** Returns the text with the fields of the resource, and with the parameters. */
export function wordsFor(words: Words, shown: MessageJson, run: Run): string {
  if (typeof words === "function") return words(shown, run);
  return words.replace(IN_BRACES, (_, name: string) => (/^[a-z]/.test(name) ? textOf(shown[name]) : run.say(name)));
}

/** Says who did an act: the names of operators, or the author as the book has it. */
export function byWords({ actor, operator_names: names }: MessageJson): string {
  const [proposer, approver] = names as readonly string[];
  if (proposer === undefined) return textOf(actor);
  return approver === undefined ? proposer : `${proposer}, approved by ${approver}`;
}
