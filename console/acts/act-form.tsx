import type { ComponentChildren, VNode } from "preact";

import { type Visit, within } from "../page.js";
import type { Refusal } from "../upstream/refusal.js";
import { pathOfId } from "../view/journal.js";
import { Link } from "../view/link.js";
import { Facts, Refused, Table } from "../view/parts.js";
import { Id, moneyText, Status, Text, words } from "../view/values.js";
import type { Given } from "./act.js";
import { allOf, filledOf, type FormField, type KnownAct, labelOf, linkedOf } from "./act-contract.js";
import { NeedsRole } from "./act-links.js";
import { type Change, plainText } from "./proposal-words.js";
import { changesOf, type Subject, type Subjects } from "./subjects.js";

export interface StepProps {
  readonly visit: Visit;
  readonly act: KnownAct;
  readonly given: Given;
  /** What its fields name, as it is now. */
  readonly subjects: Subjects;
}

interface FormProps extends StepProps {
  /** What fields had before, by their names. */
  readonly suggestions: ReadonlyMap<string, readonly string[]>;
  readonly refusal: Refusal | undefined;
  readonly children: ComponentChildren;
}

/** The form of an act, with what was filled in. */
export function Form({ visit, act, given, subjects, suggestions, refusal, children }: FormProps): VNode {
  return (
    <>
      <h1>{act.title}</h1>
      <p class="lead">{act.words}</p>
      {refusal === undefined ? null : <Refused refusal={refusal} />}
      <NeedsRole visit={visit} act={act} />
      <Linked {...{ visit, act, given, subjects }} />
      {children}
      <form method="post" action={visit.path} class="form">
        <Hidden visit={visit} given={linkedOf(act, given)} />
        <input type="hidden" name="step" value="confirm" />
        {act.fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={given[field.name] ?? ""}
            suggestions={suggestions.get(field.name) ?? []}
          />
        ))}
        <button type="submit" class="main">
          Continue
        </button>
      </form>
    </>
  );
}

const MODES: Readonly<Partial<Record<FormField["kind"], "decimal" | "numeric">>> = {
  amount: "decimal",
  number: "numeric",
};

interface FieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly suggestions: readonly string[];
}

function Field({ field: { name, label, kind, isRequired, hint, choices }, value, suggestions }: FieldProps): VNode {
  const heading = (
    <>
      {label}
      {isRequired ? null : <small> (optional)</small>}
    </>
  );
  if (kind === "choice") {
    return (
      <label>
        {heading}
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
  if (kind === "choices") {
    return (
      <fieldset>
        <legend>{heading}</legend>
        {choices.map((choice) => (
          <label key={choice.value} class="choice">
            <input type="checkbox" name={name} value={choice.value} checked={value.split(",").includes(choice.value)} />{" "}
            {words(choice.value)}: {choice.meaning}
          </label>
        ))}
      </fieldset>
    );
  }
  if (kind === "tick") {
    return (
      <label class="choice">
        <input type="checkbox" name={name} value="true" checked={value === "true"} /> {hint}
      </label>
    );
  }
  const listId = `list-${name}`;
  const list = suggestions.length === 0 ? {} : { list: listId };
  const given = { name, value, required: isRequired, autoComplete: "off", ...list };
  return (
    <label>
      {heading}
      {kind === "day" ? (
        <input type="date" {...given} />
      ) : (
        <input type="text" maxLength={256} inputMode={MODES[kind] ?? "text"} {...given} />
      )}
      <small>
        {/* Some words are optional for organizations alone. */}
        {isRequired ? hint.replace(" Optional.", "") : hint}
        {name === "account_id" ? " Its user_id will do, too." : ""}
      </small>
      {suggestions.length === 0 ? null : (
        <datalist id={listId}>
          {suggestions.map((text) => (
            <option key={text} value={text}></option>
          ))}
        </datalist>
      )}
    </label>
  );
}

/** What the act is about, as it is now, and the other facts of the link. */
export function Linked({ visit, act, given, subjects }: StepProps): VNode {
  const facts = Object.entries(linkedOf(act, given)).map(([name, text]) => {
    const value = <Value visit={visit} text={text} subject={subjects.get(name)} />;
    return [labelOf(name.replace(/_id$/, "")), value] as const;
  });
  return <Facts facts={Object.fromEntries(facts)} />;
}

/** What a person has filled in. */
export function Filled({ visit, act, given, subjects }: StepProps): VNode {
  const filled = filledOf(act, given);
  const facts = act.fields.flatMap(({ name, label, kind }) => {
    const text = filled[name];
    if (text === undefined) return [];
    const shown = kind === "amount" ? shownAmount(text) : kind.startsWith("choice") ? words(text) : text;
    return [[label, <Value visit={visit} text={shown} subject={subjects.get(name)} />] as const];
  });
  return <Facts facts={Object.fromEntries(facts)} />;
}

function shownAmount(text: string): string {
  return moneyText(text.replaceAll(",", ""));
}

const OF_PAGE = /^(acc|txn|dep|prp|whe)_[0-9a-z]{26}$/;

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
      {subject === undefined || subject.name === text ? null : <Text>{subject.name}</Text>}{" "}
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

function Hidden({ visit, given }: Pick<StepProps, "visit" | "given">): VNode {
  return (
    <>
      <input type="hidden" name="form_token" value={visit.formToken} />
      {Object.entries(given).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

interface ChangesProps {
  readonly visit: Visit;
  readonly changes: readonly Change[];
  /** What was read of the ids in them. */
  readonly subjects: Subjects;
  /** A proposal says what stood when it was made. */
  readonly of: "proposal" | "act";
  /** What a proposal would change now, where that differs from what was asked for. */
  readonly standing?: readonly Change[];
}

/** What would change. */
export function Changes({ visit, changes, subjects, of, standing = [] }: ChangesProps): VNode {
  const value = (name: string, text: string): VNode =>
    text === "" ? (
      <span class="none">none</span>
    ) : (
      <Value visit={visit} text={plainText(text, name)} subject={subjects.get(text)} />
    );
  const nowOf = (name: string): Change => standing.find(([other]) => other === name) ?? [name, "", ""];
  const added = standing.filter(([name]) => !changes.some(([other]) => other === name));
  return (
    <Table
      columns={[
        { head: "Change", cell: ([name]) => words(name) },
        { head: of === "proposal" ? "When requested" : "Now", cell: ([name, before]) => value(name, before) },
        ...(standing.length === 0
          ? []
          : [
              {
                head: "Now",
                cell: (change: Change) => (
                  <>
                    {differs(change, nowOf(change[0])) ? <Status tone="bad">changed</Status> : null}{" "}
                    {value(change[0], nowOf(change[0])[1])}
                  </>
                ),
              },
            ]),
        { head: "After", cell: ([name, , after]) => value(name, standing.length === 0 ? after : nowOf(name)[2]) },
      ]}
      rows={[...changes, ...added.map(([name]): Change => [name, "", ""])]}
      empty=""
    />
  );
}

/** Whether an act would change something else now than it was asked for. */
export function differs([, before, after]: Change, [, nowBefore, nowAfter]: Change): boolean {
  return before !== nowBefore || after !== nowAfter;
}

interface ConfirmProps extends StepProps {
  readonly needsPasskey: boolean;
  /** Whether the fields of the act are to be filled in here. */
  readonly asks?: true;
  readonly button?: string;
  readonly children: ComponentChildren;
}

/** The form whose button acts. Each of its repeats is the same act, by its key. */
export function Confirm(props: ConfirmProps): VNode {
  const { visit, act, given, subjects, needsPasskey, asks, button = act.title, children } = props;
  const changes = changesOf(act, given, subjects);
  const all = allOf(act, given);
  return (
    <>
      {children}
      <Linked {...props} />
      {changes.length === 0 ? null : (
        <Changes {...{ visit, changes, subjects }} of={act.name === "approve" ? "proposal" : "act"} />
      )}
      {asks ? null : <Filled {...props} />}
      <form method="post" action={visit.path} class="form" {...(needsPasskey ? { "data-passkey": "get" } : {})}>
        <Hidden visit={visit} given={{ ...(asks ? linkedOf(act, given) : all), key: given["key"] ?? "", step: "do" }} />
        {asks
          ? act.fields.map((field) => (
              <Field key={field.name} field={field} value={given[field.name] ?? ""} suggestions={[]} />
            ))
          : null}
        {needsPasskey ? <input type="hidden" name="response_json" value="" /> : null}
        {needsPasskey ? <p role="alert" class="refused" hidden></p> : null}
        <button type="submit" class="main">
          {needsPasskey ? `Use your passkey: ${button}` : button}
        </button>
      </form>
      {asks ? null : (
        <form method="post" action={visit.path}>
          <Hidden visit={visit} given={{ ...all, step: "edit" }} />
          <button type="submit" class="plain">
            Edit
          </button>
        </form>
      )}
    </>
  );
}
