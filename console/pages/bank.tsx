import type { VNode } from "preact";

import { ActLink, mayDo } from "../acts/act-links.js";
import type { ComparedPlace, ReserveHolding } from "../gen/messages.js";
import type { Shown, Visit } from "../page.js";
import type { Fields } from "../upstream/contract.js";
import { FigureList, Refused } from "../view/parts.js";
import { Text } from "../view/values.js";

const COLUMNS = [
  ["date", "Day of the booking"],
  ["amount", "Amount, below zero if it went out"],
  ["debit", "Or what went out"],
  ["credit", "and what came in"],
  ["balance", "Balance after the row"],
  ["reference", "The bank’s number"],
  ["text", "Words, which may have the number"],
] as const;
const NAMES_OF_FORM = ["source", "account", "date_order", "reference_pattern"] as const;
export const BANK_FILES = ".sta,.940,.mt940,.xml,.txt,.csv,.xlsx,.xls,.html";
const EVIDENCE_CHARACTERS_MAX = 256;
/** Who may keep how a bank writes: the roles of SetReservePlace. */
const ROLES = { roles: ["finance", "admin"] };
/** The kind of a place that has no figure yet, and of those that have statements. */
export const KIND = "bank_kenya";

type FormFields = Readonly<Record<string, string>>;

/** Returns how the bank writes, as the fields of the form say. Undefined if all are empty. */
export function formIn(form: FormFields): Fields | undefined {
  const filled = (pairs: readonly (readonly [string, string | undefined])[]): Fields =>
    Object.fromEntries(pairs.flatMap(([name, text = ""]) => (text.trim() === "" ? [] : [[name, text.trim()]])));
  const columns = filled(COLUMNS.map(([column]) => [column, form[`column_${column}`]]));
  const given = filled(NAMES_OF_FORM.map((name) => [name, form[name]]));
  const all = Object.keys(columns).length === 0 ? given : { ...given, columns };
  return Object.keys(all).length === 0 ? undefined : all;
}

interface AskBankProps {
  readonly visit: Visit;
  /** The places that have figures. */
  readonly places: readonly ReserveHolding[];
}

/** The form with a bank's file. It keeps what the form before it had. */
export function AskBank({ visit, places }: AskBankProps): VNode {
  const { form } = visit;
  const kept = places.filter(({ statement_form }) => statement_form !== null);
  return (
    <section>
      <h2>Compare a statement of a bank</h2>
      <p>
        MT940, camt.053, or a table: CSV, .xlsx or HTML. At most 32 MiB, 50,000 entries and 31 days. It is compared, and
        neither stored nor logged. Nothing is booked.
      </p>
      {kept.length === 0 ? null : (
        <p>
          These places need no more than the file:{" "}
          <Text>
            {kept.map(({ place, statement_form }) => `${place} (${statement_form?.source ?? ""})`).join(", ")}
          </Text>
          .
        </p>
      )}
      <form method="post" action={visit.path} encType="multipart/form-data" class="form">
        <input type="hidden" name="form_token" value={visit.formToken} />
        <label>
          Place
          <input
            type="text"
            name="place"
            maxLength={256}
            value={form["place"] ?? ""}
            list="list-bank-places"
            autoComplete="off"
            required
          />
          <small>The name under which you record what lies there.</small>
          <datalist id="list-bank-places">
            {places.map(({ place }) => (
              <option key={place} value={place}></option>
            ))}
          </datalist>
        </label>
        <label>
          Statement
          <input type="file" name="statement" accept={BANK_FILES} required />
        </label>
        <HowItWrites form={form} />
        <button type="submit" class="main">
          Compare
        </button>
      </form>
    </section>
  );
}

function HowItWrites({ form }: { readonly form: FormFields }): VNode {
  return (
    <details open={formIn(form) !== undefined}>
      <summary>How this bank writes, the first time</summary>
      <TextField form={form} name="source" label="Source of its receipts">
        Such as kcb-1234. Empty: the name of the place in small letters.
      </TextField>
      <TextField form={form} name="account" label="Account number">
        If a file has several accounts.
      </TextField>
      {COLUMNS.map(([column, label]) => (
        <TextField key={column} form={form} name={`column_${column}`} label={label}>
          The name of the column in the table.
        </TextField>
      ))}
      <label>
        In 01/02/2026 first stands
        <select name="date_order">
          {[
            ["", "not said"],
            ["day_first", "the day"],
            ["month_first", "the month"],
          ].map(([value, words]) => (
            <option key={value} value={value} selected={value === (form["date_order"] ?? "")}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <TextField form={form} name="reference_pattern" label="Pattern of the bank’s number">
        A regular expression such as FT[0-9A-Z]+, if the words have the number.
      </TextField>
    </details>
  );
}

interface TextFieldProps {
  readonly form: FormFields;
  readonly name: string;
  readonly label: string;
  readonly children: string;
}

function TextField({ form, name, label, children }: TextFieldProps): VNode {
  return (
    <label>
      {label}
      <input type="text" name={name} maxLength={256} value={form[name] ?? ""} autoComplete="off" />
      <small>{children}</small>
    </label>
  );
}

interface BankProps {
  readonly visit: Visit;
  readonly of: ComparedPlace;
  /** Whether the file is doubtful. Then its balance proves nothing. */
  readonly isDoubtful: boolean;
}

/** How the bank closes, the act that records it, and the form that keeps how the bank writes. */
export function BankSection({ visit, of, isDoubtful }: BankProps): VNode {
  const { place, source, account, closing, is_new: isNew } = of;
  return (
    <section>
      <h2>
        <Text>{place}</Text>
      </h2>
      <p>
        Receipts of <Text>{source}</Text>
        {account === null ? "" : `, account ${account}`}.
        {isNew ? " No figure of this place was recorded yet: is its name right?" : ""}
      </p>
      {closing === null ? (
        <p>The file tells no closing balance, so none is compared.</p>
      ) : (
        <>
          <FigureList
            figures={[
              ["Closing balance", closing.amount, `at the end of ${closing.day}`],
              [
                "Recorded",
                closing.recorded?.amount ?? null,
                closing.recorded === null ? "nothing yet" : `at the end of ${closing.recorded.as_of_day}`,
              ],
            ]}
          />
          <p>{CLOSING_WORDS[closing.state] ?? ""}</p>
          {closing.state === "unrecorded" && !isDoubtful ? (
            <p>
              <ActLink visit={visit} name="reserve" linked={figureOf(of, closing, visit.files[0]?.name)} isApart>
                Record this balance
              </ActLink>
            </p>
          ) : null}
        </>
      )}
      <Keep visit={visit} isNew={isNew} />
    </section>
  );
}

const CLOSING_WORDS: Readonly<Record<string, string>> = {
  agrees: "The book has the same figure of this day.",
  differs: "The book has another figure of this day. Ask the bank which one is right.",
  unrecorded: "The book has no figure of this day.",
  later: "The book has no figure of this day, and one of a later day, which stays the last one.",
  overdrawn: "The account is overdrawn, and no figure is below zero. Ask the bank.",
};

function figureOf(
  { place, statement, document_sha256 }: ComparedPlace,
  { amount, day, recorded }: NonNullable<ComparedPlace["closing"]>,
  file = "",
): FormFields {
  const words = `statement ${statement ?? `of ${day}`}${file === "" ? "" : `, ${file}`}`;
  const evidence = Array.from(words).slice(0, EVIDENCE_CHARACTERS_MAX).join("").trim();
  return { place, amount, as_of_day: day, evidence, kind: recorded?.kind ?? KIND, document_sha256 };
}

/** Keeps what the person has filled in. A place is known by its first figure. */
function Keep({ visit, isNew }: { readonly visit: Visit; readonly isNew: boolean }): VNode | null {
  if (formIn(visit.form) === undefined || !mayDo(visit, ROLES)) return null;
  if (isNew) return <p class="advice">Once a figure is recorded, compare again to keep how this bank writes.</p>;
  const given = Object.entries(visit.form).filter(([name]) => name !== "form_token");
  return (
    <form method="post" action={visit.path} encType="multipart/form-data" class="form">
      <input type="hidden" name="form_token" value={visit.formToken} />
      <input type="hidden" name="keep" value="true" />
      {given.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit">Keep how this bank writes</button>
    </form>
  );
}

/** Keeps how a bank writes. Undefined for another form. */
export async function keepPage(visit: Visit): Promise<Shown> {
  const { keep, place = "" } = visit.form;
  if (keep !== "true") return undefined;
  const kept = await visit.act("AdminService/SetReservePlace", { place, form: formIn(visit.form) });
  return {
    title: "Reconciliation",
    status: kept.ok ? 200 : 400,
    body: (
      <>
        <h1>{kept.ok ? "Kept" : "Not kept"}</h1>
        {kept.ok ? (
          <p>
            Statements of <Text>{place}</Text> need no more than the file from now on.
          </p>
        ) : (
          <Refused refusal={kept.refusal} />
        )}
      </>
    ),
  };
}
