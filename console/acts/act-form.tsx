import type { ComponentChildren, VNode } from "preact";

import { type Visit, within } from "../page.js";
import type { Refusal } from "../upstream/refusal.js";
import { pathOfId } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { Facts, Refused, Table } from "../view/parts.js";
import { Id, moneyText, Status, Text, words } from "../view/values.js";
import type { FormField, KnownAct } from "./act-contract.js";
import { type Given, mayDo, orOf } from "./act-links.js";
import type { Change } from "./acts.js";
import type { Subject } from "./subjects.js";

export interface StepProps {
  readonly visit: Visit;
  readonly act: KnownAct;
  readonly given: Given;
  /** What the act is about, as it is now. */
  readonly subject?: Subject | undefined;
  readonly refusal?: Refusal | undefined;
}

/** The form of an act, with what was filled in. */
export function Form({ visit, act, given, subject, refusal }: StepProps): VNode {
  return (
    <>
      <h1>{act.title}</h1>
      <p class="lead">{act.words}</p>
      {refusal === undefined ? null : <Refused refusal={refusal} />}
      {mayDo(visit, act) ? null : <p class="refused">This needs the role {orOf(act.roles)}.</p>}
      <Linked visit={visit} act={act} given={given} subject={subject} />
      <form method="post" action={visit.path} class="form">
        <Hidden visit={visit} act={act} given={given} names={linkedOf(act)} />
        <input type="hidden" name="step" value="confirm" />
        {act.fields.map((field) => (
          <Field key={field.name} field={field} value={given[field.name] ?? ""} />
        ))}
        <button type="submit" class="main">
          Go on
        </button>
      </form>
    </>
  );
}

function Field({
  field: { name, kind, isRequired, hint, choices },
  value,
}: {
  field: FormField;
  value: string;
}): VNode {
  const label = (
    <>
      {labelOf(name)}
      {isRequired ? null : <small> (optional)</small>}
    </>
  );
  if (kind === "choice") {
    return (
      <label>
        {label}
        <select name={name} required={isRequired}>
          <option value="">Choose</option>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value} selected={choice.value === value}>
              {words(choice.value)}: {choice.meaning}
            </option>
          ))}
        </select>
      </label>
    );
  }
  if (kind === "tick") {
    return (
      <label class="choice">
        <input type="checkbox" name={name} value="true" checked={value === "true"} /> {hint}
      </label>
    );
  }
  const given = { name, value, required: isRequired, autoComplete: "off" };
  return (
    <label>
      {label}
      {kind === "day" ? (
        <input type="date" {...given} />
      ) : (
        <input type="text" maxLength={256} inputMode={kind === "amount" ? "decimal" : "text"} {...given} />
      )}
      <small>{hint}</small>
    </label>
  );
}

function linkedOf({ subject, given = [] }: KnownAct): readonly string[] {
  return subject === undefined ? given : [subject, ...given];
}

/** Returns "Rail receipt" for "rail_receipt". */
function labelOf(name: string): string {
  return words(name).replace(/^./, (first) => first.toUpperCase());
}

/** What the act is about, as it is now, and the other facts of the link. */
export function Linked({ visit, act, given, subject }: StepProps): VNode {
  const facts = linkedOf(act).map((name) => [
    labelOf(name.replace(/_id$/, "")),
    <Value visit={visit} text={given[name]} subject={name === act.subject ? subject : undefined} />,
  ]);
  return <Facts facts={Object.fromEntries(facts) as Record<string, ComponentChildren>} />;
}

const OF_PAGE = /^(acc|txn|dep|prp)_/;

interface ValueProps {
  readonly visit: Visit;
  readonly text: string | undefined;
  /** What the text is the id of, if that was read. */
  readonly subject?: Subject | undefined;
}

/** A text of an act or of a proposal. An id with a page is a link, after what people call it. */
export function Value({ visit, text = "", subject }: ValueProps): VNode {
  return (
    <>
      {subject === undefined ? null : <Text>{subject.name}</Text>}{" "}
      {subject?.status === undefined ? null : <Status>{subject.status}</Status>} {linkOf(visit, text)}
    </>
  );
}

function linkOf(visit: Visit, text: string): VNode {
  const isProposal = text.startsWith("prp_");
  if (!OF_PAGE.test(text) || (visit.organization === undefined && !isProposal)) return <Text>{text}</Text>;
  return (
    <Link to={isProposal ? within(visit, `/approvals/${text}`) : pathOfId(visit, text)}>
      <Id>{text}</Id>
    </Link>
  );
}

function Hidden({ visit, given, names }: StepProps & { readonly names: readonly string[] }): VNode {
  return (
    <>
      <input type="hidden" name="form_token" value={visit.formToken} />
      {names.map((name) => (
        <input key={name} type="hidden" name={name} value={given[name] ?? ""} />
      ))}
    </>
  );
}

/** What would change. */
export function Changes({ changes }: { readonly changes: readonly Change[] }): VNode {
  return (
    <Table
      columns={[
        { head: "What changes", cell: ([name]) => name },
        { head: "Now", cell: ([, before]) => <Text>{shown(before)}</Text> },
        { head: "Then", cell: ([, , after]) => <Text>{shown(after)}</Text> },
      ]}
      rows={changes}
      empty=""
    />
  );
}

function shown(text: string): string {
  return /^[0-9]+\.[0-9]{2}$/.test(text) ? moneyText(text) : words(text);
}

function textOf(kind: FormField["kind"], text = ""): string {
  return kind === "choice" ? words(text) : text;
}

interface ConfirmProps extends StepProps {
  readonly needsPasskey: boolean;
  readonly button?: string;
  readonly children: ComponentChildren;
}

/** The form whose button acts. Each of its repeats is the same act, by its key. */
export function Confirm({ visit, act, given, needsPasskey, button = act.title, children }: ConfirmProps): VNode {
  const filled = act.fields.filter(({ name }) => (given[name] ?? "") !== "");
  return (
    <>
      {children}
      <Facts
        facts={Object.fromEntries(
          filled.map(({ name, kind }) => [
            labelOf(name),
            kind === "amount" ? moneyText(given[name] ?? "") : <Value visit={visit} text={textOf(kind, given[name])} />,
          ]),
        )}
      />
      <form method="post" action={visit.path} class="form" {...(needsPasskey ? { "data-passkey": "get" } : {})}>
        <Hidden
          visit={visit}
          act={act}
          given={given}
          names={[...linkedOf(act), ...act.fields.map(({ name }) => name), "key"]}
        />
        <input type="hidden" name="step" value="do" />
        {needsPasskey ? <input type="hidden" name="response_json" value="" /> : null}
        {needsPasskey ? <p role="alert" class="refused" hidden></p> : null}
        <button type="submit" class="main">
          {needsPasskey ? `Use your passkey: ${button}` : button}
        </button>
      </form>
      <p>
        <Link to={pathWith(visit.path, Object.fromEntries(linkedOf(act).map((name) => [name, given[name]])))}>
          Change it
        </Link>
      </p>
    </>
  );
}
