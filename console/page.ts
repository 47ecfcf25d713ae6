import type { VNode } from "preact";

import type { KnownAct } from "./acts/act-contract.js";
import type { Operator, Organization } from "./gen/messages.js";
import type { UploadedFile } from "./http/uploads.js";
import type { Fields } from "./upstream/contract.js";
import type { ActedOf, Reading, ReadingOf, RpcName, SentFiles } from "./upstream/upstream.js";

/** What a page may read of its URL: a path and a query hold no personal data. */
export interface Asked {
  readonly path: string;
  readonly ids: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The fields of a form. Empty for a GET. */
  readonly form: Readonly<Record<string, string>>;
  /** The files of a form, in its order. */
  readonly files: readonly UploadedFile[];
}

/** One request of a person who has signed in. */
export interface Visit extends Asked {
  readonly person: Operator;
  /** Undefined on the pages of no organization. */
  readonly organization: Organization | undefined;
  /** The organizations of the service, at most 1,000. */
  readonly organizations: readonly Organization[];
  /** Read once for the frame and the page. Undefined on the pages of no organization. */
  readonly overview: Promise<ReadingOf<"AdminService/GetOverview">> | undefined;
  /** Reads within two seconds, about the organization of the page, or about another one. */
  read<Rpc extends RpcName>(rpc: Rpc, fields: Fields, organizationId?: string): Promise<ReadingOf<Rpc>>;
  /** Reads a point in the past of a book. The reading is kept for a minute. */
  readPast<Rpc extends RpcName>(rpc: Rpc, fields: Fields): Promise<ReadingOf<Rpc>>;
  /** Acts, once. */
  act<Rpc extends RpcName>(rpc: Rpc, fields: Fields, options?: ActOptions): Promise<ActedOf<Rpc>>;
  /** Sends files in pieces, with fields beside them. Repeats nothing. */
  send<Rpc extends RpcName>(rpc: Rpc, fields: Fields, sent: SentFiles): Promise<ActedOf<Rpc>>;
  /** What a person can do, by the names in the paths. */
  readonly acts: ReadonlyMap<string, KnownAct>;
  /** Reads the bytes of the field `field`, message by message. */
  download(rpc: RpcName, fields: Fields, field: string): Promise<Reading<AsyncIterable<Uint8Array>>>;
  /** The token of the forms of this page. */
  readonly formToken: string;
  /** What the contract says about a value of an enum, such as "outcome_unknown" of "FlagReason". */
  meaningOf(enumName: string, value: string): string;
}

export interface ActOptions {
  readonly idempotencyKey?: string | undefined;
  /** Whether the server only checks the request, and does nothing. */
  readonly isOnlyChecked?: boolean | undefined;
}

/** What a page shows. */
export interface View {
  readonly title: string;
  readonly body: VNode;
  /** 200 if omitted. */
  readonly status?: number;
  /** What the page shows of the past, such as "row 12,345". Undefined: now. */
  readonly past?: string | undefined;
  /** Whether a person fills in the page, so that it must not change or lead elsewhere by itself. */
  readonly isForm?: true;
  /** What was looked for. The search box keeps it. */
  readonly sought?: string;
  /** Whether the page should say when the book has new rows. */
  readonly showsBook?: true;
  /** The proposal that the page shows as pending, and whose decision it should tell. */
  readonly waitsFor?: string | undefined;
}

/** A file in parts, each of which is made once the browser has taken the one before. */
export interface Download {
  readonly file: string;
  /** The media type. CSV if omitted. */
  readonly type?: string;
  readonly parts: AsyncIterable<string | Uint8Array>;
  /** What the parts so far have. */
  readonly made: MadeFile;
}

/** What the log says about a file. */
export interface MadeFile {
  /** Undefined: the file is no list. */
  rows: number | undefined;
  /** Whether there are more rows than a file may have. */
  isCut: boolean;
  /** Why a page of rows could not be read: the file breaks off. */
  failure: string | undefined;
}

/** A page, a file, a redirect to another page, or undefined: there is no such page. */
export type Shown = View | Download | { readonly redirect: string } | undefined;

export interface Page {
  /** "/:org/accounts/:id". `org` is the id of an organization. */
  readonly path: string;
  readonly method?: "GET" | "POST";
  /** Whether it is the search, whose form is on every page. */
  readonly isSearch?: true;
  /** Whether it sends a file, which has reads beyond those of a page. */
  readonly isDownload?: true;
  /** Whether its form has a file. Such a form may be larger, and is read after the sign-in. */
  readonly takesFile?: true;
  readonly show: (visit: Visit) => Promise<Shown>;
}

/** The path of a page of the organization, or of the same page without an organization. */
export function within({ organization }: Pick<Visit, "organization">, path = ""): string {
  return organization === undefined ? path : `/${organization.id}${path}`;
}
