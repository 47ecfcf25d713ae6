import type { ClosedMonth } from "../../../domain/closing.js";
import { maskPersonsIn } from "../../../domain/values/masked-phone.js";
import { periodOfMonth } from "../../../domain/values/month.js";
import { GeneralLedgerLine, JournalLine } from "../../../gen/kesc/v1/statement.js";
import { FileHash, type HashedFile, hashedText, type PackFile, type PackParts } from "../../../months/pack.js";
import type { History } from "../../../statements/as-of.js";
import { exportGeneralLedger, exportJournal } from "../../../statements/exports.js";
import type { FormattedLine } from "../../../statements/forms/formatted-line.js";
import { type Format, FORMATS, LEDGER_FORMATS, lineFormat } from "../../../statements/forms/line-format.js";
import type { BookLine } from "../../../statements/ports.js";
import { toGeneralLedgerLine, toJournalLine } from "../../messages/history/statement.js";

const NO_BYTES = new Uint8Array();
const JOURNAL = Object.keys(JournalLine.decode(NO_BYTES));
const LEDGER = Object.keys(GeneralLedgerLine.decode(NO_BYTES));
/** NDJSON is the form for programs. */
const FORMS = FORMATS.filter((form) => form !== "json");

type Lines = readonly FormattedLine[];
/** Makes the lines of some rows, which costs half as much as to write them. */
type MakeLines = () => Lines;

/** A file of a form, which has some of the lines of its walk. */
interface FileOfLines {
  readonly name: string;
  readonly format: Format;
  readonly names: readonly string[];
  readonly linesOf: (part: Lines) => Lines;
}

/** A walk along the rows of a month, and the files that it can make. */
interface WalkOfMonth {
  readonly parts: () => AsyncIterable<MakeLines>;
  readonly files: readonly FileOfLines[];
}

/** The rows of a month, and what waits after each part of them. */
export interface MonthRows {
  readonly history: History;
  readonly month: ClosedMonth["month"];
  /** Lets others run: to write a part costs the event loop some milliseconds. */
  readonly rest: (busyMillis: number) => Promise<void>;
}

/** Returns the files of a pack: those that the closing keeps, and those that the rows make. */
export function filesOf(kept: ClosedMonth["kept"], rows: MonthRows): readonly PackFile[] {
  return [
    ...Object.entries(kept).map(([name, text]) => ({ name, parts: () => one(text) })),
    ...walksOf(rows).flatMap(({ parts, files }) =>
      files.map((file) => ({ name: file.name, parts: () => formatted(parts(), file, rows) })),
    ),
  ];
}

/** Makes all files once, and keeps none. A walk along the rows makes all of its files. */
export async function hashedFiles(kept: ClosedMonth["kept"], rows: MonthRows): Promise<readonly HashedFile[]> {
  const hashed = Object.entries(kept).map(([name, text]) => hashedText(name, text));
  for (const { parts, files } of walksOf(rows)) {
    const forms = files.map((file) => ({
      file,
      form: lineFormat(file.format, { hasMark: false }),
      hash: new FileHash(),
    }));
    for (const { file, form, hash } of forms) hash.add(form.begin(file.names));
    for await (const make of parts()) {
      let begun = performance.now();
      const lines = make();
      for (const { file, form, hash } of forms) {
        hash.add(form.lines(file.linesOf(lines)));
        await rows.rest(performance.now() - begun);
        begun = performance.now();
      }
    }
    for (const { file, form, hash } of forms) {
      hash.add(form.end());
      hashed.push(hash.of(file.name));
    }
  }
  return hashed;
}

/** The walks of which the rows make files, whenever. They hold no personal data. */
function walksOf({ history, month }: MonthRows): readonly WalkOfMonth[] {
  const period = periodOfMonth(month);
  const file = (name: string, format: Format, names: readonly string[], linesOf = all): FileOfLines => ({
    name: `${name}.${format}`,
    format,
    names,
    linesOf,
  });
  return [
    {
      parts: () => mapped(exportJournal(history, period), (line) => journalLineOf(line, history)),
      files: [
        ...FORMS.map((format) => file("journal", format, JOURNAL)),
        file("charges", "csv", JOURNAL, (lines) => lines.filter(isOfCharges)),
        file("acts", "csv", JOURNAL, (lines) => lines.filter(isOfPerson)),
      ],
    },
    {
      parts: () =>
        mapped(exportGeneralLedger(history, period), ({ line, ...side }) =>
          toGeneralLedgerLine({ ...side, line: line && withoutPersons(line) }, history),
        ),
      files: [...FORMS, ...LEDGER_FORMATS].map((format) => file("general-ledger", format, LEDGER)),
    },
  ];
}

function all(lines: Lines): Lines {
  return lines;
}

/** The evidence of a figure is the words of a person, too. */
function journalLineOf(line: BookLine, history: History): JournalLine {
  const journalLine = toJournalLine(withoutPersons(line), history);
  const { evidence } = journalLine;
  return evidence === undefined ? journalLine : { ...journalLine, evidence: maskPersonsIn(evidence) };
}

/** An erasure changes nothing of what is left. */
function withoutPersons(line: BookLine): BookLine {
  const { reference, description, note } = line;
  return {
    ...line,
    userId: undefined,
    reference: maskPersonsIn(reference),
    description: maskPersonsIn(description),
    note: maskPersonsIn(note),
  };
}

function isOfCharges(line: FormattedLine): boolean {
  return line["debit_account"] === "charges" || line["credit_account"] === "charges";
}

/** What an operator did, or the machine for one. */
function isOfPerson({ actor }: FormattedLine): boolean {
  return typeof actor === "string" && (actor.startsWith("opr_") || actor === "operator");
}

async function* mapped<Item>(
  parts: AsyncIterable<readonly Item[]>,
  lineOf: (item: Item) => object,
): AsyncGenerator<MakeLines, void, void> {
  for await (const part of parts) yield () => part.map((item) => lineOf(item) as FormattedLine);
}

async function* formatted(
  parts: AsyncIterable<MakeLines>,
  { format, names, linesOf }: FileOfLines,
  { rest }: Pick<MonthRows, "rest">,
): PackParts {
  const form = lineFormat(format, { hasMark: false });
  yield form.begin(names);
  for await (const make of parts) {
    const begun = performance.now();
    yield form.lines(linesOf(make()));
    // The generator goes on once the part is written.
    await rest(performance.now() - begun);
  }
  yield form.end();
}

async function* one(text: string): PackParts {
  yield Promise.resolve(text);
}
