import type { VNode } from "preact";

import { RAILS_LISTED } from "../acts/subjects.js";
import type { RailAccountStatus, StatementWords, Supply } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import type { Refusal } from "../upstream/refusal.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { AgeOfFigures, coverageOf, Explained } from "../view/coverage.js";
import { Link, pathWith } from "../view/link.js";
import { type Column, Commands, FigureList, Refused, Section, Table } from "../view/parts.js";
import { Age, ageText, lessOf, moneyText, sumOf, Text } from "../view/values.js";
import { AskBank, formIn, keepPage } from "./bank.js";
import { Compared } from "./compared.js";
import { nightPage } from "./night.js";

const PATH = "/:org/reconciliation";
const MPESA = "mpesa";
export const FILE_NAME_CHARACTERS_MAX = 255;
export const RAIL_FILES = ".csv,.xlsx,.xls,.html,text/csv";
/** It moves no shillings, so it has no statement. */
export const SANDBOX = "sandbox";

/** What does the rail say, and what does the book say? A GET asks for the statement. */
export const reconciliationPage: Page = {
  path: PATH,
  async show(visit) {
    const [supply, accounts] = await Promise.all([
      visit.read("BookService/GetSupply", {}),
      visit.read("AdminService/ListRailAccounts", { page_size: RAILS_LISTED }),
    ]);
    const own = accounts.ok ? accounts.value.rail_accounts.map(({ rail }) => rail) : [];
    const told = supply.ok ? railsIn(supply.value.supply) : [];
    const rails = [...new Set([...told, ...own])];
    const chosen = rails.find((rail) => rail === visit.query.get("rail")) ?? rails[0] ?? MPESA;
    const account = own.includes(chosen)
      ? await visit.read("AdminService/GetRailAccount", { rail: chosen })
      : undefined;
    return {
      title: "Reconciliation",
      isForm: true,
      body: (
        <>
          <h1>Reconciliation</h1>
          <p class="lead">What the rail says against what the book says.</p>
          {rails.length < 2 ? null : (
            <p class="ranges">
              {rails.map((rail) => (
                <Link key={rail} to={pathWith(visit.path, { rail })} isCurrent={rail === chosen}>
                  {rail}
                </Link>
              ))}
            </p>
          )}
          <Section title={`Now, at ${chosen}`} reading={supply} retry={visit.path}>
            {(value) => <TieNow visit={visit} supply={value.supply} rail={chosen} />}
          </Section>
          <Ask visit={visit} rails={[...new Set([MPESA, ...own])].filter((rail) => rail !== SANDBOX)} chosen={chosen} />
          <AskBank visit={visit} places={supply.ok ? (supply.value.supply.backing?.reserve_holdings ?? []) : []} />
          {chosen === SANDBOX ? null : <Listed visit={visit} rail={chosen} account={account} />}
          {account?.ok === true ? <Words {...account.value.status} /> : null}
        </>
      ),
    };
  },
};

/** Returns the rails that have told a balance in shillings. */
function railsIn({ backing }: Supply): readonly string[] {
  return (backing?.rail_balances ?? []).filter(({ currency }) => currency === "KES").map(({ rail }) => rail);
}

interface TieNowProps {
  readonly visit: Visit;
  readonly supply: Supply;
  readonly rail: string;
}

/** The tie by the newest figures: what the rail has told, and what should be there by the book. */
function TieNow({ visit, supply, rail }: TieNowProps): VNode {
  const balances = supply.backing?.rail_balances ?? [];
  const own = balances.filter((each) => each.rail === rail && each.currency === "KES");
  const here = sumOf(own.map(({ available }) => available));
  const elsewhere = lessOf(supply.backing?.seen ?? "0", here);
  const expected = lessOf(supply.owed, elsewhere);
  const coverage = coverageOf(supply);
  const isTold = own.length > 0;
  return (
    <>
      <FigureList
        figures={[
          [
            "Balance that the rail reported",
            isTold ? here : null,
            isTold ? `${ageText(oldestOf(own))} ago` : "none yet",
          ],
          [
            "Should be there by the book",
            expected,
            `${moneyText(supply.owed)} owed, less ${moneyText(elsewhere)} in other places`,
          ],
          ["Difference", isTold ? lessOf(here, expected) : null],
        ]}
      />
      {coverage === undefined || !isTold ? (
        <p>
          The rail has reported no balance, so it is unknown what lies there. A statement still shows which movements
          differ.
        </p>
      ) : (
        <div class="narrow">
          <h3>What explains the difference</h3>
          <Explained visit={visit} coverage={coverage} />
        </div>
      )}
      <p>
        {coverage === undefined || !isTold ? null : (
          <>
            <AgeOfFigures coverage={coverage} /> A statement ties both sides to the shilling.{" "}
          </>
        )}
        <Link to={within(visit, "/supply")}>Supply and reserve</Link> has each place, and{" "}
        <Link to={within(visit, "/attention")}>Needs attention</Link> what waits for a person.
      </p>
    </>
  );
}

function oldestOf(balances: readonly { readonly age_seconds: number }[]): number {
  return Math.max(...balances.map(({ age_seconds }) => age_seconds));
}

interface ListedProps {
  readonly visit: Visit;
  readonly rail: string;
  /** Undefined: the organization has no account at the rail. */
  readonly account: ReadingOf<"AdminService/GetRailAccount"> | undefined;
}

/** What the rail lists by itself, and the command that compares it. */
function Listed({ visit, rail, account }: ListedProps): VNode {
  const status = account?.ok === true ? account.value.status : undefined;
  return (
    <section>
      <h2>Without a file</h2>
      {status === undefined ? null : (
        <p>
          {status.deposits_since === null ? (
            "The server does not read the rail’s list of received payments: the account is not registered for deposits."
          ) : (
            <>
              The server reads the rail’s list of received payments by itself, and books what it lacks.{" "}
              {status.deposits_read_at === null ? (
                "It has not read the list yet."
              ) : (
                <>
                  It has read the list to its end <Age since={status.deposits_read_at} /> ago.
                </>
              )}
            </>
          )}
        </p>
      )}
      <p>
        A command on the server asks the rail what came in during the last 24 hours, and compares it with the book. The
        rail does not list what went out: that takes the statement.
      </p>
      <Commands>{[`kesc reconcile ${rail} --pull --org ${visit.organization?.id ?? "ORG"}`]}</Commands>
    </section>
  );
}

/** By which words a row of a statement has its kind. */
function Words({ statement_words }: Pick<RailAccountStatus, "statement_words">): VNode | null {
  if (statement_words.length === 0) return null;
  const columns: readonly Column<StatementWords>[] = [
    { head: "Kind", cell: ({ kind }) => kind.replaceAll("_", " ") },
    { head: "Added to this account", cell: ({ own }) => <Text>{own.join(", ") || "none"}</Text> },
    { head: "Built in", cell: ({ built_in }) => <Text>{built_in.join(", ")}</Text>, isMinor: true },
  ];
  return (
    <details>
      <summary>Words that tell the kind of a row</summary>
      <p>
        A row that no word tells is never proposed as a correction. The setting statementWords of the account adds
        words, with a second person: kesc rail set.
      </p>
      <Table columns={columns} rows={statement_words} empty="" />
    </details>
  );
}

export const comparisonPage: Page = {
  path: PATH,
  method: "POST",
  takesFile: true,
  async show(visit) {
    const done = (await nightPage(visit)) ?? (await keepPage(visit));
    if (done !== undefined) return done;
    const { rail = "", place = "" } = visit.form;
    const file_name = visit.files[0]?.name.slice(-FILE_NAME_CHARACTERS_MAX);
    const of = place === "" ? { rail } : { place, form: formIn(visit.form) };
    const compared = await visit.send(
      "AdminService/ReconcileStatement",
      { ...of, file_name },
      { field: "statement", files: visit.files.map(({ bytes }) => bytes) },
    );
    return {
      title: "Reconciliation",
      status: compared.ok ? 200 : 400,
      body: (
        <>
          <h1>Reconciliation</h1>
          {compared.ok ? (
            <Compared visit={visit} found={compared.value} rail={rail} />
          ) : (
            <NotCompared refusal={compared.refusal} />
          )}
          {place === "" ? (
            <Ask visit={visit} rails={[rail === "" ? MPESA : rail]} chosen={rail} />
          ) : (
            <AskBank visit={visit} places={[]} />
          )}
        </>
      ),
    };
  },
};

function NotCompared({ refusal }: { readonly refusal: Refusal }): VNode {
  return (
    <>
      <p class="lead">Nothing was compared: half a statement proves nothing.</p>
      <Refused refusal={refusal} />
    </>
  );
}

interface AskProps {
  readonly visit: Visit;
  readonly rails: readonly string[];
  readonly chosen: string;
}

function Ask({ visit, rails, chosen }: AskProps): VNode {
  return (
    <section>
      <h2>Compare a statement</h2>
      <p>
        Export the statement of the account from the rail’s portal: CSV, .xlsx, or the .xls of the portal. At most 32
        MiB, 50,000 rows and 31 days. It is compared, and neither stored nor logged. Nothing is booked.
      </p>
      <form method="post" action={visit.path} encType="multipart/form-data" class="form">
        <input type="hidden" name="form_token" value={visit.formToken} />
        <label>
          Rail
          <select name="rail" required>
            {rails.map((rail) => (
              <option key={rail} value={rail} selected={rail === chosen}>
                {rail}
              </option>
            ))}
          </select>
        </label>
        <label>
          Statement
          <input type="file" name="statement" accept={RAIL_FILES} required />
        </label>
        <button type="submit" class="main">
          Compare
        </button>
      </form>
    </section>
  );
}
