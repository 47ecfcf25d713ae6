import type { VNode } from "preact";

import { Acts, mayDo } from "../acts/act-links.js";
import type { Operator, PayoutCheck, PayoutList } from "../gen/messages.js";
import { type Page, type Shown, type Visit, within } from "../page.js";
import { isUnknown, type Refusal } from "../upstream/refusal.js";
import type { Reading } from "../upstream/upstream.js";
import { KeptForm } from "../view/kept-form.js";
import { Link } from "../view/link.js";
import { Commands, Facts, Refused, Section } from "../view/parts.js";
import { Id, Person, Time } from "../view/values.js";
import { fileIn, KEPT_CHARACTERS_MAX, keptOf } from "./payouts.js";

const PATH = "/:org/payouts/holds";
const OPERATORS = 100;
/** Who may set the list: the roles of SetPayoutList. */
const ROLES = { roles: ["finance", "admin"] };

/** To whom is nothing paid unseen, and which service is asked before a payout leaves? */
export const payoutHoldsPage: Page = {
  path: PATH,
  async show(visit) {
    const [listed, checked, operators] = await Promise.all([
      visit.read("AdminService/GetPayoutList", {}),
      visit.read("AdminService/GetPayoutCheck", {}),
      visit.read("AdminService/ListOperators", { page_size: OPERATORS }),
    ]);
    const people = operators.ok ? operators.value.operators : [];
    const check: Reading<PayoutCheck | null> = checked.ok
      ? { ok: true, value: checked.value.payout_check }
      : checked.refusal.reason === "PAYOUT_CHECK_NOT_FOUND"
        ? { ok: true, value: null }
        : checked;
    return {
      title: "What holds payouts",
      isForm: true,
      body: (
        <>
          <h1>What holds payouts</h1>
          <p class="lead">
            A payout to somebody on the list, or one that the service holds, waits for persons. Two of them release or
            refuse it.
          </p>
          <Section title="A list of those to whom nothing is paid unseen" reading={listed} retry={visit.path}>
            {({ payout_list: list }) => (
              <>
                {list === null ? <p class="empty">There is no list.</p> : <Listed list={list} people={people} />}
                <ListForm visit={visit} />
              </>
            )}
          </Section>
          <Section title="A service that is asked first" reading={check} retry={visit.path}>
            {(standing) => <Check visit={visit} check={standing} />}
          </Section>
        </>
      ),
    };
  },
};

interface ListedProps {
  readonly list: PayoutList;
  readonly people: readonly Operator[];
}

/** What the list has. Nobody can say more: only keyed hashes of its entries are stored. */
function Listed({ list: { accounts, numbers, names, set_at, set_by, hash }, people }: ListedProps): VNode {
  return (
    <Facts
      facts={{
        Accounts: accounts.toLocaleString("en"),
        Numbers: numbers.toLocaleString("en"),
        Names: names.toLocaleString("en"),
        Since: <Time>{set_at}</Time>,
        "Set by": set_by.split(",").map((id) => (
          <p key={id}>
            <SetBy id={id} name={people.find((person) => person.id === id)?.name} />
          </p>
        )),
        Hash: <Id>{hash}</Id>,
      }}
    />
  );
}

function SetBy({ id, name }: { readonly id: string; readonly name: string | undefined }): VNode {
  return name === undefined && id !== "operator" ? <Id>{id}</Id> : <Person id={id} name={name ?? id} />;
}

interface ListFormProps {
  readonly visit: Visit;
  /** A file that was sent before. Empty: one is to be chosen. */
  readonly kept?: string;
  readonly needsPasskey?: boolean;
}

function ListForm({ visit, kept = "", needsPasskey = false }: ListFormProps): VNode {
  if (!mayDo(visit, ROLES)) return <p>To set a list takes the role finance or admin.</p>;
  if (kept.length > KEPT_CHARACTERS_MAX) {
    return (
      <>
        <p>This file is too large to be sent again here. A command sends it:</p>
        <Commands>{[`kesc payouts set-list FILE --org ${visit.organization?.id ?? "ORG"} --note TEXT`]}</Commands>
      </>
    );
  }
  return (
    <KeptForm visit={visit} needsPasskey={needsPasskey} given={kept === "" ? {} : { kept }}>
      <>
        {kept === "" ? (
          <label>
            New list
            <input type="file" name="file" accept=".csv,.xlsx,text/csv" required />
            <small>
              CSV or .xlsx with the columns kind and value, or some of account, number and name: at most 10,000 entries.
              It replaces the list. If entries of that end, this makes a proposal for a second person, and the former
              list holds until then. Keep your file: only keyed hashes are stored.
            </small>
          </label>
        ) : null}
      </>
      <label>
        Note
        <input type="text" name="note" value={visit.form["note"] ?? ""} maxLength={256} required autoComplete="off" />
        <small>Why, for the book and the second person: without personal data.</small>
      </label>
      <>
        {needsPasskey ? <input type="hidden" name="response_json" value="" /> : null}
        {needsPasskey ? <p role="alert" class="refused" hidden></p> : null}
      </>
      <button type="submit" class="main">
        {needsPasskey ? "Use your passkey: set the list" : "Set the list"}
      </button>
    </KeptForm>
  );
}

interface CheckProps {
  readonly visit: Visit;
  readonly check: PayoutCheck | null;
}

function Check({ visit, check }: CheckProps): VNode {
  if (check === null) {
    return (
      <>
        <p class="empty">No service is asked.</p>
        <Acts visit={visit} acts={[["set-check", {}]]} />
      </>
    );
  }
  const { url, deadline_seconds, no_answer, set_at } = check;
  const standing = { url, deadline_seconds: String(deadline_seconds), no_answer };
  return (
    <>
      <Facts
        facts={{
          Address: url,
          "Time for an answer": `${deadline_seconds.toLocaleString("en")} seconds`,
          "Without an answer": visit.meaningOf("CheckNoAnswer", no_answer),
          Since: <Time>{set_at}</Time>,
        }}
      />
      <p>A command shows an admin the secret that signs what is asked. Each change brings another one.</p>
      <Commands>{[`kesc payouts show-check --org ${visit.organization?.id ?? "ORG"}`]}</Commands>
      <Acts
        visit={visit}
        acts={[
          ["set-check", standing],
          ["test-check", {}],
          ["clear-check", {}],
        ]}
      />
    </>
  );
}

/** Sets the list. A second form keeps the file: no console stores one. */
export const payoutListSent: Page = {
  path: PATH,
  method: "POST",
  takesFile: true,
  async show(visit) {
    const { kept = "", note = "", response_json = "" } = visit.form;
    const bytes = kept === "" ? (visit.files[0]?.bytes ?? Buffer.alloc(0)) : await fileIn(kept);
    if (response_json !== "") {
      const verified = await visit.act("SessionService/VerifySession", { response_json });
      if (!verified.ok) return refusedPage(visit, verified.refusal, bytes);
    }
    const fields = { note: note.trim() };
    const sent = await visit.send("AdminService/SetPayoutList", fields, { field: "file", files: [bytes] });
    if (!sent.ok) return refusedPage(visit, sent.refusal, bytes);
    const { proposal, unchanged = false, payout_list: list } = sent.value;
    if (proposal !== undefined) return { redirect: within(visit, `/approvals/${proposal.id}`) };
    return {
      title: "What holds payouts",
      body: (
        <>
          <h1>{unchanged ? "Already done" : "Done"}</h1>
          <p class="lead">
            {unchanged ? "The list with these entries was set before." : "The list holds from now on."}
          </p>
          {list === null ? null : <Listed list={list} people={[visit.person]} />}
          <Back visit={visit} />
        </>
      ),
    };
  },
};

function Back({ visit }: { readonly visit: Visit }): VNode {
  return (
    <p>
      <Link to={visit.path}>What holds payouts</Link>
    </p>
  );
}

/** Says why no list was set. The form keeps the file, unless the file or the note is wrong. */
async function refusedPage(visit: Visit, refusal: Refusal, bytes: Buffer): Promise<Shown> {
  const needsPasskey = refusal.reason === "VERIFICATION_REQUIRED";
  const isOpen = isUnknown(refusal);
  const kept = refusal.reason === "INVALID_FIELD" ? "" : await keptOf(bytes);
  return {
    title: "What holds payouts",
    isForm: true,
    status: needsPasskey || isOpen ? 200 : 400,
    body: (
      <>
        <h1>{isOpen ? "Unknown whether the list was set" : "No list was set"}</h1>
        {needsPasskey ? (
          <p>Your passkey must confirm this. You have not used it in the last five minutes.</p>
        ) : (
          <Refused refusal={refusal} />
        )}
        {isOpen ? <p>The button sends the same file again: the same list changes nothing.</p> : null}
        <ListForm visit={visit} kept={kept} needsPasskey={needsPasskey} />
        <Back visit={visit} />
      </>
    ),
  };
}
