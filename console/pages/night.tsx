import { Readable } from "node:stream";

import type { VNode } from "preact";

import { csvRows } from "../../runtime/csv.js";
import { mayDo } from "../acts/act-links.js";
import type { DoubtfulRow, FoundResult, LostNight, RecordedPayIn, ResolvedResult } from "../gen/messages.js";
import { type Shown, type Visit, within } from "../page.js";
import type { Fields } from "../upstream/contract.js";
import { isUnknown, type Refusal } from "../upstream/refusal.js";
import type { Told } from "../upstream/upstream.js";
import { Short } from "../view/journal.js";
import { KeptForm } from "../view/kept-form.js";
import { type Column, FigureList, Refused, Table } from "../view/parts.js";
import { Money, Text, Time, words } from "../view/values.js";

/** Who may book a lost night: the roles of both rpcs. */
const ROLES = { roles: ["finance", "admin"] };

/** The two acts for a lost night, by the field `night` of their forms. */
const ACTS = {
  record: { rpc: "AdminService/RecordDeposits", list: "pay_ins", title: "Record these deposits" },
  resolve: { rpc: "AdminService/ResolveTransactions", list: "results", title: "Complete these payments" },
} as const;
type NightAct = keyof typeof ACTS;

interface SectionProps {
  readonly visit: Visit;
  readonly rail: string;
  readonly night: LostNight;
}

/** What a statement has of a night whose reports were lost: one form for all of it. */
export function LostNightSection({ visit, rail, night }: SectionProps): VNode | null {
  const { pay_ins, lacking, results, found, doubtful } = night;
  if (lacking.count + found.count === 0 || !mayDo(visit, ROLES)) return null;
  return (
    <section>
      <h2>In one act</h2>
      <p>Were reports of the rail lost? Then book all of these at once. A preview shows each row first.</p>
      {lacking.count === 0 ? null : (
        <Begin {...{ visit, rail }} night="record" rows={pay_ins}>
          {`Preview ${String(pay_ins.length)} deposits`}
        </Begin>
      )}
      {found.count === 0 ? null : (
        <Begin {...{ visit, rail }} night="resolve" rows={results}>
          {`Preview the end of ${String(results.length)} payments`}
        </Begin>
      )}
      {lacking.count > pay_ins.length || found.count > results.length ? (
        <p class="advice">One act takes 1,000 rows. Compare the statement again for the others.</p>
      ) : null}
      {doubtful.length === 0 ? null : <Doubtful rows={doubtful} />}
    </section>
  );
}

function Doubtful({ rows }: { readonly rows: readonly DoubtfulRow[] }): VNode {
  const columns: readonly Column<DoubtfulRow>[] = [
    { head: "Receipt", cell: ({ receipt }) => <Text>{receipt}</Text> },
    { head: "Amount", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
    { head: "Why it is in no act", cell: ({ doubt }) => words(doubt) },
  ];
  return <Table columns={columns} rows={rows} empty="" />;
}

interface BeginProps {
  readonly visit: Visit;
  readonly rail: string;
  readonly night: NightAct;
  readonly rows: readonly object[];
  readonly children: string;
}

function Begin({ visit, rail, night, rows, children }: BeginProps): VNode {
  return (
    <KeptForm visit={visit} given={{ night, rail, rows: JSON.stringify(rows) }}>
      <button type="submit">{children}</button>
    </KeptForm>
  );
}

/** The preview of an act for a lost night, its file, or the act. Undefined for another form. */
export async function nightPage(visit: Visit): Promise<Shown> {
  const { night = "", step = "", response_json = "" } = visit.form;
  if (night !== "record" && night !== "resolve") return undefined;
  if (step !== "do") {
    const previewed = await call(visit, night, true);
    if (!previewed.ok) return refusedPage(visit, night, previewed.refusal);
    return step === "csv" ? fileOf(night, previewed.value) : previewPage(visit, night, previewed.value);
  }
  if (response_json !== "") {
    const verified = await visit.act("SessionService/VerifySession", { response_json });
    if (!verified.ok) return refusedPage(visit, night, verified.refusal);
  }
  const done = await call(visit, night, false);
  if (!done.ok) return refusedPage(visit, night, done.refusal);
  const { proposal } = done.value;
  if (proposal?.state === "pending") return { redirect: within(visit, `/approvals/${proposal.id}`) };
  return {
    title: "Done",
    body: (
      <>
        <h1>{done.value.unchanged === true ? "Already done" : "Done"}</h1>
        <Figures answer={done.value} />
        <Rows visit={visit} answer={done.value} />
      </>
    ),
  };
}

/** What both rpcs return, as far as they have it. */
interface NightAnswer extends Told {
  readonly pay_ins?: readonly RecordedPayIn[];
  readonly results?: readonly ResolvedResult[];
  readonly recorded?: NightTotals;
  readonly credited?: NightTotals;
  readonly passed_over?: NightTotals;
  readonly completed?: NightTotals;
  readonly needs_second_person: boolean;
}

interface NightTotals {
  readonly count: number;
  readonly amount: string;
}

type Answered = { readonly ok: true; readonly value: NightAnswer } | { readonly ok: false; readonly refusal: Refusal };

async function call(visit: Visit, night: NightAct, preview: boolean): Promise<Answered> {
  const { rail = "", rows = "", note = "" } = visit.form;
  const { rpc, list } = ACTS[night];
  const fields: Fields = {
    ...(night === "record" ? { rail } : {}),
    [list]: night === "record" ? rowsIn(rows) : foundIn(rows).map(requested),
    note: note.trim(),
    preview,
  };
  return await visit.act(rpc, fields);
}

/** The rows as the form has them. The server names what is wrong with one. */
function rowsIn(text: string): readonly unknown[] {
  try {
    const rows = JSON.parse(text) as unknown;
    return Array.isArray(rows) ? rows : [];
  } catch {
    return [];
  }
}

function foundIn(text: string): readonly Partial<FoundResult>[] {
  return rowsIn(text).filter((row): row is Partial<FoundResult> => typeof row === "object" && row !== null);
}

/** The comparison says more of a row than the act takes. */
function requested({ transaction_id, receipt, amount }: Partial<FoundResult>): Fields {
  return { transaction_id, receipt, amount };
}

function refusedPage(visit: Visit, night: NightAct, refusal: Refusal): Shown {
  const needsPasskey = refusal.reason === "VERIFICATION_REQUIRED";
  const isLost = isUnknown(refusal);
  const { note = "" } = visit.form;
  return {
    title: ACTS[night].title,
    status: needsPasskey || isLost ? 200 : 400,
    body: (
      <>
        <h1>{isLost ? "Unknown whether this was done" : ACTS[night].title}</h1>
        {needsPasskey ? (
          <p>Your passkey must confirm this. You have not used it in the last five minutes.</p>
        ) : (
          <Refused refusal={refusal} />
        )}
        {isLost ? <p>The button sends the same act again. What was done is passed over.</p> : null}
        <Ask visit={visit} night={night} note={note} needsPasskey={needsPasskey} />
      </>
    ),
  };
}

function previewPage(visit: Visit, night: NightAct, answer: NightAnswer): Shown {
  const { title } = ACTS[night];
  return {
    title,
    body: (
      <>
        <h1>{title}?</h1>
        <p class="lead">
          Nothing is done yet.{" "}
          {answer.needs_second_person ? "The sum needs a second person, who sees each row." : "You may do this alone."}
        </p>
        <Figures answer={answer} />
        <Ask visit={visit} night={night} note="" needsPasskey={false} />
        <KeptForm visit={visit} given={{ ...kept(visit), step: "csv" }}>
          <button type="submit" class="plain">
            Download the rows as CSV
          </button>
        </KeptForm>
        <Rows visit={visit} answer={answer} />
      </>
    ),
  };
}

function kept({ form: { night = "", rail = "", rows = "" } }: Visit): Readonly<Record<string, string>> {
  return { night, rail, rows };
}

interface AskProps {
  readonly visit: Visit;
  readonly night: NightAct;
  readonly note: string;
  readonly needsPasskey: boolean;
}

function Ask({ visit, night, note, needsPasskey }: AskProps): VNode {
  const { title } = ACTS[night];
  return (
    <KeptForm visit={visit} given={{ ...kept(visit), step: "do" }} needsPasskey={needsPasskey}>
      <label>
        Note
        <input type="text" name="note" value={note} maxLength={256} required autoComplete="off" />
        <small>Why, for the book: without personal data.</small>
      </label>
      <>
        {needsPasskey ? <input type="hidden" name="response_json" value="" /> : null}
        {needsPasskey ? <p role="alert" class="refused" hidden></p> : null}
      </>
      <button type="submit" class="main">
        {needsPasskey ? `Use your passkey: ${title}` : title}
      </button>
    </KeptForm>
  );
}

function Figures({ answer }: { readonly answer: NightAnswer }): VNode {
  const { recorded, credited, passed_over, completed } = answer;
  const figures = [
    ["Recorded", recorded],
    ["Of them for accounts", credited],
    ["In the book before", passed_over],
    ["Completed", completed],
  ] as const;
  return (
    <FigureList
      figures={figures.flatMap(([name, totals]) =>
        totals === undefined ? [] : [[name, totals.amount, `${totals.count.toLocaleString("en")} rows`] as const],
      )}
    />
  );
}

function Rows({ visit, answer: { pay_ins, results } }: { readonly visit: Visit; readonly answer: NightAnswer }): VNode {
  const found = new Map(foundIn(visit.form["rows"] ?? "").map((row) => [row.receipt, row]));
  const payIns: readonly Column<RecordedPayIn>[] = [
    { head: "Receipt", cell: ({ receipt }) => <Text>{receipt}</Text> },
    { head: "Amount", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
    { head: "Becomes", cell: ({ outcome, reason }) => words(reason === null ? outcome : `${outcome}: ${reason}`) },
    { head: "Account", cell: ({ account_id }) => <Short visit={visit} id={account_id} /> },
  ];
  const orders: readonly Column<ResolvedResult>[] = [
    { head: "Transaction", cell: ({ transaction_id }) => <Short visit={visit} id={transaction_id} /> },
    { head: "Receipt", cell: ({ receipt }) => <Text>{receipt}</Text> },
    { head: "Paid to", cell: ({ receipt }) => <Text>{found.get(receipt)?.masked_number ?? "the order"}</Text> },
    { head: "When", cell: ({ receipt }) => <Time>{found.get(receipt)?.time ?? null}</Time> },
    { head: "Amount", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
    { head: "Becomes", cell: ({ left_because: left }) => (left === null ? "completed" : `stays: ${words(left)}`) },
  ];
  return results === undefined ? (
    <Table columns={payIns} rows={pay_ins ?? []} empty="" />
  ) : (
    <Table columns={orders} rows={results} empty="" />
  );
}

function fileOf(night: NightAct, { pay_ins = [], results = [] }: NightAnswer): Shown {
  const rows =
    night === "record"
      ? [
          ["receipt", "amount", "outcome", "account_id", "reason"],
          ...pay_ins.map((row) => [row.receipt, row.amount, row.outcome, row.account_id ?? "", row.reason ?? ""]),
        ]
      : [
          ["transaction_id", "receipt", "amount", "left_because"],
          ...results.map((row) => [row.transaction_id, row.receipt, row.amount, row.left_because ?? ""]),
        ];
  const made = { rows: rows.length - 1, isCut: false, failure: undefined };
  return { file: `lost-night-${night}.csv`, parts: Readable.from([csvRows(rows)]), made };
}
