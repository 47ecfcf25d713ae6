import type { VNode } from "preact";

import { ActLink, mayDo } from "../acts/act-links.js";
import { RAILS_LISTED } from "../acts/subjects.js";
import type { JournalEntry } from "../gen/messages.js";
import { type MadeFile, type Page, type Visit, within } from "../page.js";
import { isUnknown } from "../upstream/refusal.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { Actor, RowLink } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { Commands, Facts, Refused } from "../view/parts.js";
import { Id, Text, Time } from "../view/values.js";
import { BANK_FILES, KIND } from "./bank.js";
import { FILE_NAME_CHARACTERS_MAX, RAIL_FILES, SANDBOX } from "./reconciliation.js";

/** That of the page Month. */
export const MONTH_PATH = "/:org/month";
/** The roles of CloseMonth and of ExportMonth. */
const CLOSERS = { roles: ["finance", "admin"] };
const READERS = { roles: ["viewer", ...CLOSERS.roles] };
/** CloseMonth takes no more. */
const STATEMENTS_MAX = 20;
const CLOSINGS = 1_000;

/** Whose statements a month wants. */
interface Wanted {
  readonly rails: readonly string[];
  readonly places: readonly string[];
}

type Closings = ReadingOf<"AdminService/ListJournal">;

/** What the section about the pack of a month shows. */
export interface PackFacts extends Wanted {
  readonly closings: Closings;
}

/** Reads whether a month is closed, and whose statements it wants. */
export async function packFacts(visit: Visit): Promise<PackFacts> {
  const [closings, wanted] = await Promise.all([
    visit.read("AdminService/ListJournal", { types: ["month.closed"], page_size: CLOSINGS }),
    mayDo(visit, CLOSERS) ? wantedOf(visit) : { rails: [], places: [] },
  ]);
  return { closings, ...wanted };
}

async function wantedOf(visit: Visit): Promise<Wanted> {
  const [accounts, supply] = await Promise.all([
    visit.read("AdminService/ListRailAccounts", { page_size: RAILS_LISTED }),
    visit.read("BookService/GetSupply", {}),
  ]);
  const rails = accounts.ok ? accounts.value.rail_accounts.map(({ rail }) => rail) : [];
  const holdings = supply.ok ? (supply.value.supply.backing?.reserve_holdings ?? []) : [];
  return {
    rails: [...new Set(rails)].filter((rail) => rail !== SANDBOX),
    places: holdings.filter(({ kind }) => kind === KIND).map(({ place }) => place),
  };
}

/** The row that closed a month. Undefined: it is open, or nobody can say. */
function closingOf(closings: Closings, month: string): JournalEntry | undefined {
  if (!closings.ok) return undefined;
  return closings.value.entries.find(({ line }) => line.detail?.startsWith(`${month},`));
}

/** Whether the section has a form. */
export function asksForStatements(visit: Visit, { closings }: PackFacts, month: string): boolean {
  return closingOf(closings, month) === undefined && mayDo(visit, CLOSERS);
}

interface PackProps {
  readonly visit: Visit;
  /** Such as "2026-10", and over. */
  readonly month: string;
  readonly facts: PackFacts;
}

/** The pack of a closed month, or the form that closes it. */
export function Pack({ visit, month, facts }: PackProps): VNode {
  const closing = closingOf(facts.closings, month);
  return (
    <section class="screen">
      <h2>The pack</h2>
      {facts.closings.ok ? null : <Refused refusal={facts.closings.refusal} />}
      {closing === undefined ? (
        <p>Nobody has closed this month{facts.closings.ok ? "" : ", as far as this page can say"}.</p>
      ) : (
        <>
          <Facts
            facts={{
              Closed: <Time>{closing.line.recorded_at}</Time>,
              By: <Actor entry={closing} />,
              Row: <RowLink visit={visit} sequence={closing.line.sequence} />,
            }}
          />
          <Download visit={visit} month={month} />
        </>
      )}
      {asksForStatements(visit, facts, month) ? <Close visit={visit} month={month} wanted={facts} /> : null}
    </section>
  );
}

function Download({ visit, month }: Pick<PackProps, "visit" | "month">): VNode | null {
  if (!mayDo(visit, READERS)) return null;
  return (
    <>
      <p>
        <Link to={pathWith(within(visit, "/month.zip"), { month })}>Download the pack</Link>. It is always the same
        file. Anybody can check it, without this service:
      </p>
      <Commands>{[`kesc close --check ${fileOf(visit, month)} --key KEY`]}</Commands>
    </>
  );
}

function fileOf({ organization }: Visit, month: string): string {
  return `month-${organization?.id ?? ""}-${month}.zip`;
}

/** The form with a file for each account at a rail and each place at a bank. */
function Close({ visit, month, wanted }: Pick<PackProps, "visit" | "month"> & { readonly wanted: Wanted }): VNode {
  const all = [
    ...wanted.rails.map((name) => ["rail", name] as const),
    ...wanted.places.map((name) => ["place", name] as const),
  ];
  return (
    <form method="post" action={visit.path} encType="multipart/form-data" class="form">
      <input type="hidden" name="form_token" value={visit.formToken} />
      <input type="hidden" name="month" value={month} />
      <p>
        To close it, give a statement of the whole month for each. Together they have at most 32 MiB. They are compared,
        and neither stored nor logged. A table of a bank needs that{" "}
        <Link to={within(visit, "/reconciliation")}>Reconciliation</Link> has kept how the bank writes.
      </p>
      {all.length === 0 ? <p>No rail and no bank of this book has statements.</p> : null}
      {all.length > STATEMENTS_MAX ? (
        <p>These are 20 of {all.length.toLocaleString("en")}, and a closing takes no more.</p>
      ) : null}
      {all.slice(0, STATEMENTS_MAX).map(([kind, name], index) => (
        <label key={`${kind} ${name}`}>
          <span>
            Statement of <Text>{name}</Text>
          </span>
          <input type="hidden" name={`${kind}_${String(index)}`} value={name} />
          <input type="file" name={`file_${String(index)}`} accept={kind === "rail" ? RAIL_FILES : BANK_FILES} />
        </label>
      ))}
      <label>
        Note <small>(optional)</small>
        <input type="text" name="note" maxLength={256} autoComplete="off" />
        <small>It stays in the book for ever. Write no personal data.</small>
      </label>
      <button type="submit" class="main">
        Close the month
      </button>
      <p class="advice">
        A month is closed once, and nothing ends that. Each file of the pack is made first: with 100,000 rows that takes
        minutes, and one of more than 200,000 rows takes the command kesc close. If the page breaks off, look at Month
        again. To send the form twice closes nothing twice.
      </p>
    </form>
  );
}

/** Closes a month, or says all that keeps it open. */
export const closingPage: Page = {
  path: MONTH_PATH,
  method: "POST",
  takesFile: true,
  async show(visit) {
    const { form, files } = visit;
    const { month = "", note = "" } = form;
    const statements = files.map(({ field, name, bytes }) => {
      const index = field.replace(/^file_/, "");
      const { [`rail_${index}`]: rail, [`place_${index}`]: place } = form;
      return { rail, place, file_name: name.slice(-FILE_NAME_CHARACTERS_MAX), size: String(bytes.length) };
    });
    const closed = await visit.send(
      "AdminService/CloseMonth",
      { month, note, statements },
      {
        field: "files",
        files: files.map(({ bytes }) => bytes),
      },
    );
    if (!closed.ok) {
      const wanted = await wantedOf(visit);
      return {
        title: "Month",
        status: 400,
        body: (
          <>
            <h1>
              {isUnknown(closed.refusal) ? "Unknown whether this month is closed: " : "Not closed: "}
              <Text>{month}</Text>
            </h1>
            <NotClosed visit={visit} refusal={closed.refusal} />
            <Close visit={visit} month={month} wanted={wanted} />
          </>
        ),
      };
    }
    const { closed_month: of, already_closed: isAgain } = closed.value;
    return {
      title: of.month,
      body: (
        <>
          <h1>{isAgain ? `${of.month} was closed before` : `${of.month} is closed`}</h1>
          {isAgain ? <p class="lead">Nothing was compared or changed now.</p> : null}
          <Facts
            facts={{
              Closed: <Time>{of.closed_at}</Time>,
              "Up to row": <RowLink visit={visit} sequence={of.last_sequence} />,
              "SHA-256 of its manifest": <Id>{of.manifest_sha256}</Id>,
            }}
          />
          <Download visit={visit} month={of.month} />
        </>
      ),
    };
  },
};

type Refusal = Parameters<typeof Refused>[0]["refusal"];

/** All that keeps a month open, each with the act that ends it. */
function NotClosed({ visit, refusal }: { readonly visit: Visit; readonly refusal: Refusal }): VNode {
  const { reason, text } = refusal;
  if (reason !== "MONTH_NOT_READY") return <Refused refusal={refusal} />;
  const [lead = "", ...obstacles] = text.split("\n- ");
  return (
    <div class="refused" role="status">
      <p>
        {lead} <code>{reason}</code>
      </p>
      <ul>
        {obstacles.map((obstacle) => (
          <li key={obstacle}>
            <Obstacle visit={visit} obstacle={obstacle} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const FIGURE =
  /^(.*?): kesc reserve record \S+ --place '((?:[^']|'\\'')*)' --amount (\S+) --as-of (\S+) --kind (\S+) /s;
const COMPARE = /^(.*?): kesc reconcile /s;
const FILE = /^(.* has no statement): add --statement /s;

/** The words of an obstacle. The page that ends it stands in place of the command. */
function Obstacle({ visit, obstacle }: { readonly visit: Visit; readonly obstacle: string }): VNode {
  const figure = FIGURE.exec(obstacle);
  if (figure !== null) {
    const [, said = "", place = "", amount = "", as_of_day = "", kind = ""] = figure;
    const told = amount === "AMOUNT" ? {} : { amount };
    const linked = { place: place.replaceAll(`'\\''`, "'"), as_of_day, kind, ...told };
    return (
      <>
        <Text>{said}</Text>.{" "}
        <ActLink visit={visit} name="reserve" linked={linked} isApart>
          Record its balance
        </ActLink>
      </>
    );
  }
  const [, compared] = COMPARE.exec(obstacle) ?? [];
  if (compared !== undefined) {
    return (
      <>
        <Text>{compared}</Text>.{" "}
        <Link to={within(visit, "/reconciliation")} isApart>
          Compare the statement
        </Link>
      </>
    );
  }
  const [, missing] = FILE.exec(obstacle) ?? [];
  if (missing !== undefined) return <Text>{`${missing}: choose its file below.`}</Text>;
  // A text has a bound, and each sentence is shorter.
  return <>{obstacle.split(/(?<=\.) /).map((sentence) => [<Text key={sentence}>{sentence}</Text>, " "])}</>;
}

/** The pack as a file, which the server makes while the browser takes it. */
export const packFile: Page = {
  path: `${MONTH_PATH}.zip`,
  isDownload: true,
  async show(visit) {
    const month = visit.query.get("month") ?? "";
    const pack = await visit.download("AdminService/ExportMonth", { month }, "piece");
    if (!pack.ok) {
      return {
        title: "The pack",
        status: 400,
        body: (
          <>
            <h1>The pack</h1>
            <Refused refusal={pack.refusal} />
            <p>
              <Link to={pathWith(within(visit, "/month"), { month })}>The month</Link>
            </p>
          </>
        ),
      };
    }
    const made: MadeFile = { rows: undefined, isCut: false, failure: undefined };
    return { file: fileOf(visit, month), type: "application/zip", parts: noted(pack.value, made), made };
  },
};

/** Notes why a pack breaks off, for the log. */
async function* noted(pieces: AsyncIterable<Uint8Array>, made: MadeFile): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* pieces;
  } catch (error) {
    made.failure = error instanceof Error ? error.message : "unknown";
    throw error;
  }
}
