import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

import { status } from "@grpc/grpc-js";
import type { VNode } from "preact";

import { mayDo } from "../acts/act-links.js";
import { RAILS_LISTED } from "../acts/subjects.js";
import type { PayFileResponse, Payouts } from "../gen/messages.js";
import { type Page, type Shown, type Visit, within } from "../page.js";
import type { Refusal } from "../upstream/refusal.js";
import type { ActedOf } from "../upstream/upstream.js";
import { KeptForm } from "../view/kept-form.js";
import { Link, pathWith } from "../view/link.js";
import { type Column, Commands, More, Refused, Section, Table } from "../view/parts.js";
import { PayoutPreview } from "../view/payout-preview.js";
import { Brief, BriefTime, Money, Status } from "../view/values.js";

const PATH = "/:org/payouts";
const ROWS = 50;
const MEBIBYTE = 1_024 * 1_024;
const FILE_BYTES_MAX = 32 * MEBIBYTE;
/** What the second form may keep of a file, in base64. Such a form has 32 MiB at most. */
export const KEPT_CHARACTERS_MAX = 31 * MEBIBYTE;
/** Who may propose a file: the roles of PayFile. */
const ROLES = { roles: ["finance", "admin"] };

const compressed = promisify(gzip);
const decompressed = promisify(gunzip);

/** Which files were paid, and how far are they? A GET also asks for the next file. */
export const payoutsPage: Page = {
  path: PATH,
  async show(visit) {
    const [listed, accounts] = await Promise.all([
      visit.read("AdminService/ListPayouts", { page_size: ROWS, page_token: visit.query.get("page") ?? "" }),
      visit.read("AdminService/ListRailAccounts", { page_size: RAILS_LISTED }),
    ]);
    const rails = accounts.ok ? accounts.value.rail_accounts.map(({ rail, is_default }) => ({ rail, is_default })) : [];
    return {
      title: "Payouts",
      isForm: true,
      body: (
        <>
          <h1>Payouts from a file</h1>
          <p class="lead">A file is looked at first. It is paid once a second person has approved it.</p>
          <p>
            <Link to={within(visit, "/payouts/holds")}>What holds payouts</Link>: a list of those to whom nothing is
            paid unseen, and a service that is asked first.
          </p>
          <Choose visit={visit} rails={rails} />
          <Section title="Approved files, newest first" reading={listed} retry={visit.path}>
            {({ payouts, next_page_token: next }) => (
              <>
                <FileList visit={visit} rows={payouts} empty="No file of payouts was approved yet." />
                <More
                  to={next === null ? undefined : pathWith(visit.path, { page: next })}
                  isEmpty={payouts.length === 0}
                />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

interface FileListProps {
  readonly visit: Visit;
  readonly rows: readonly Payouts[];
  readonly empty: string;
}

export function FileList({ visit, rows, empty }: FileListProps): VNode {
  const columns: readonly Column<Payouts>[] = [
    { head: "Approved", cell: ({ approved_at: at }) => (at === null ? null : <BriefTime>{at}</BriefTime>) },
    {
      head: "File",
      isTitle: true,
      cell: ({ sha256 }) => (
        <Link to={within(visit, `/payouts/${sha256}`)}>
          <Brief>{sha256}</Brief>
        </Link>
      ),
    },
    { head: "State", cell: ({ state }) => <Status>{state}</Status> },
    { head: "Why it waits", cell: ({ problem }) => problem },
    { head: "Rail", cell: ({ rail }) => rail, isMinor: true },
    { head: "Decided", cell: ({ decided, count }) => `${numberText(decided)} of ${numberText(count)}` },
    { head: "Refused", cell: ({ refused }) => numberText(refused), isMinor: true },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
  return <Table columns={columns} rows={rows} empty={empty} />;
}

function numberText(count: number): string {
  return count.toLocaleString("en");
}

interface ChooseProps {
  readonly visit: Visit;
  readonly rails: readonly { readonly rail: string; readonly is_default: boolean }[];
}

function Choose({ visit, rails }: ChooseProps): VNode {
  if (!mayDo(visit, ROLES)) return <p>To propose a file takes the role finance or admin.</p>;
  if (rails.length === 0) return <p>The organization has no account at a rail, so nothing can be paid out.</p>;
  return (
    <section>
      <h2>Look at a file</h2>
      <p>
        CSV or .xlsx, at most 50,000 rows and 32 MiB. Its first line names the columns: account or user_id, amount, and
        if you like reference, description and destination. Nothing is stored. A large file takes minutes, since others
        go first.
      </p>
      <KeptForm visit={visit} given={{}}>
        <label>
          Rail
          <select name="rail" required>
            {rails.map(({ rail, is_default: isDefault }) => (
              <option key={rail} value={rail} selected={isDefault}>
                {rail}
              </option>
            ))}
          </select>
        </label>
        <label>
          File
          <input type="file" name="file" accept=".csv,.xlsx,text/csv" required />
        </label>
        <button type="submit" class="main">
          Look at it
        </button>
      </KeptForm>
    </section>
  );
}

/** Looks at a file, or proposes it. The second form keeps the file: no console stores one. */
export const payoutsSent: Page = {
  path: PATH,
  method: "POST",
  takesFile: true,
  async show(visit) {
    const { step = "", rail = "", leave_out = "", note = "", response_json = "" } = visit.form;
    // The default rail is not what this form was about.
    if (rail === "") return refusedPage(visit, NO_RAIL, "");
    if (step !== "do") {
      const bytes = visit.files[0]?.bytes ?? Buffer.alloc(0);
      const looked = await visit.send(
        "AdminService/PayFile",
        { rail, preview: true },
        { field: "file", files: [bytes] },
      );
      if (!looked.ok) return refusedPage(visit, looked.refusal, "");
      return previewPage(visit, looked.value, await keptOf(bytes));
    }
    const { kept = "" } = visit.form;
    if (response_json !== "") {
      const verified = await visit.act("SessionService/VerifySession", { response_json });
      if (!verified.ok) return refusedPage(visit, verified.refusal, kept);
    }
    const fields = { rail, leave_out: countIn(leave_out), note: note.trim() };
    const sent = await visit.send("AdminService/PayFile", fields, { field: "file", files: [await fileIn(kept)] });
    return sent.ok ? { redirect: within(visit, pathAfter(sent.value)) } : refusedPage(visit, sent.refusal, kept);
  },
};

const NO_RAIL: Refusal = {
  code: status.INVALID_ARGUMENT,
  reason: "INVALID_FIELD",
  text: "rail is required",
  advice: undefined,
};

/** Returns what a form keeps of a file. */
export async function keptOf(bytes: Buffer): Promise<string> {
  return (await compressed(bytes)).toString("base64");
}

/** Returns the file that a form has kept. What the console did not write is no file. */
export async function fileIn(kept: string): Promise<Buffer> {
  const file = decompressed(Buffer.from(kept, "base64"), { maxOutputLength: FILE_BYTES_MAX });
  return file.catch(() => Buffer.alloc(0));
}

/** A number that the server refuses stands for what is no number. */
function countIn(text: string): number {
  return /^[0-9]{1,6}$/.test(text.trim()) ? Number(text) : -1;
}

type Sent = Extract<ActedOf<"AdminService/PayFile">, { readonly ok: true }>["value"];

function pathAfter({ proposal, payouts }: Sent): string {
  if (proposal !== undefined) return `/approvals/${proposal.id}`;
  return payouts === null ? "/payouts" : `/payouts/${payouts.sha256}`;
}

function previewPage(visit: Visit, { preview, payouts }: PayFileResponse, kept: string): Shown {
  return {
    title: "Pay a file",
    body: (
      <>
        <h1>Propose to pay this file?</h1>
        <p class="lead">
          {payouts === null
            ? "Nothing is stored yet. A second person sees this preview before anything is paid."
            : "It was approved before, and a file is paid once."}
        </p>
        <PayoutPreview preview={preview} />
        {preview.count === 0 ? (
          <p>There is nothing to propose. Correct the file, and look at it again.</p>
        ) : (
          <Ask visit={visit} kept={kept} leftOut={preview.left_out} />
        )}
        <AnotherFile visit={visit} />
      </>
    ),
  };
}

function AnotherFile({ visit }: { readonly visit: Visit }): VNode {
  return (
    <p>
      <Link to={visit.path}>Look at another file</Link>
    </p>
  );
}

interface AskProps {
  readonly visit: Visit;
  readonly kept: string;
  /** The number of rows with an error. Undefined: this page does not know it. */
  readonly leftOut: number | undefined;
  readonly needsPasskey?: boolean;
}

function Ask({ visit, kept, leftOut, needsPasskey = false }: AskProps): VNode {
  const { rail = "", note = "", leave_out = "" } = visit.form;
  if (kept.length > KEPT_CHARACTERS_MAX) {
    return (
      <>
        <p>This file is too large to be proposed here. A command proposes it:</p>
        <Commands>
          {[`kesc payouts propose FILE --org ${visit.organization?.id ?? "ORG"} --rail ${rail} --note TEXT`]}
        </Commands>
      </>
    );
  }
  const isNone = leftOut === 0;
  return (
    <KeptForm
      visit={visit}
      needsPasskey={needsPasskey}
      given={{ step: "do", rail, kept, ...(isNone ? { leave_out: "0" } : {}) }}
    >
      <>
        {isNone ? null : (
          <label>
            Rows to leave out
            <input type="text" inputMode="numeric" name="leave_out" value={leave_out} required autoComplete="off" />
            <small>The number of rows with an error, so that nobody overlooks one. Another number is refused.</small>
          </label>
        )}
      </>
      <label>
        Note
        <input type="text" name="note" value={note} maxLength={256} required autoComplete="off" />
        <small>What this file pays, for the book and the second person: without personal data.</small>
      </label>
      <>
        {needsPasskey ? <input type="hidden" name="response_json" value="" /> : null}
        {needsPasskey ? <p role="alert" class="refused" hidden></p> : null}
      </>
      <button type="submit" class="main">
        {needsPasskey ? "Use your passkey: propose" : "Propose"}
      </button>
    </KeptForm>
  );
}

/** Says why nothing was proposed. `kept` is empty if there is no file to propose again. */
function refusedPage(visit: Visit, refusal: Refusal, kept: string): Shown {
  const needsPasskey = refusal.reason === "VERIFICATION_REQUIRED";
  const isUnknown =
    refusal.reason === undefined && (refusal.code === status.UNAVAILABLE || refusal.code === status.DEADLINE_EXCEEDED);
  return {
    title: "Pay a file",
    status: needsPasskey || isUnknown ? 200 : 400,
    body: (
      <>
        <h1>{isUnknown && kept !== "" ? "Unknown whether it was proposed" : "Nothing was proposed"}</h1>
        {needsPasskey ? (
          <p>Your passkey must confirm this. You have not used it in the last five minutes.</p>
        ) : (
          <Refused refusal={refusal} />
        )}
        {isUnknown && kept !== "" ? <p>The button proposes the same file again: it is proposed once.</p> : null}
        {kept === "" ? null : <Ask visit={visit} kept={kept} leftOut={undefined} needsPasskey={needsPasskey} />}
        <AnotherFile visit={visit} />
      </>
    ),
  };
}
