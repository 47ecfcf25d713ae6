import { parsePlaceSource, type StatementForm } from "../../domain/statement-form.js";
import { BANK_RAIL, type Rail } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import type { Parsed } from "../../domain/values/parsed.js";
import { accountAtPlace } from "../../rails/bank/account.js";
import { type ComparedPlace, comparePlace, formOfPlace } from "../../reconcile/banks/compare-place.js";
import type { ReconciledPeriod } from "../../reconcile/reconciliation.js";
import { UsageError } from "../../startup/operator-error.js";
import type { History } from "../../statements/as-of.js";
import { bookedMovements } from "../../storage/rails/booked-movements.js";
import type { MessageJson } from "../administration/row.js";
import { DATE_ORDERS, formFields, type FormOptions } from "../commands/statement-form.js";
import type { FoundOwner } from "../organizations.js";
import { applyCharges } from "./apply-charges.js";
import { readAlone } from "./statement-file.js";

/** What the command says about a bank's file. */
export interface PlaceOfFile extends FormOptions {
  readonly place?: string;
}

interface FromPlace extends PlaceOfFile, Partial<ReconciledPeriod> {
  readonly place: string;
  readonly bytes: Buffer;
  readonly history: History;
  /** Undefined: no charge is booked. */
  readonly chargeMaxCents: Cents | undefined;
}

/** What a comparison found, and how many charges were booked before it. */
interface FoundAtPlace {
  readonly compared: ComparedPlace;
  readonly chargesBooked: number;
}

/** Compares a bank's file with the book of its place. Rejects with a StatementError. */
export async function fromPlace(
  { organization, cell }: FoundOwner,
  { place, bytes, history, from, to, chargeMaxCents, ...options }: FromPlace,
): Promise<FoundAtPlace> {
  const { id: organizationId } = organization;
  const kept = await formOf(place, options, history);
  const { source } = kept;
  const ofBank = await bookedMovements(cell, { organizationId, rail: BANK_RAIL });
  const form = { ...kept, account: kept.account ?? accountAtPlace(place, await ofBank.settings()) };
  const file = await readAlone((reading, alone) => reading.ofBank("", { form, bytes: Uint8Array.from(bytes) }, alone));
  const rail = source as Rail;
  const book = await bookedMovements(cell, { organizationId, rail });
  let chargesBooked = 0;
  const compared = await comparePlace(file, {
    place,
    source,
    book,
    history,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(chargeMaxCents !== undefined && {
      onCharges: async (charges) => {
        chargesBooked = await applyCharges(charges, { cell, organizationId, rail, book, chargeMaxCents });
      },
    }),
  });
  return { compared, chargesBooked };
}

/** What is given is the whole form. Otherwise it is as the book keeps it. */
async function formOf(place: string, options: FormOptions, { reads, organizationId }: History): Promise<StatementForm> {
  const { source = "", account, columns, dates, reference } = options;
  if (formFields(options) === undefined) {
    return given(formOfPlace(place, await reads.reserveHoldings(organizationId)));
  }
  const dateOrder = dates && DATE_ORDERS[dates];
  return {
    source: given(parsePlaceSource(source, place)),
    account,
    columns,
    dateOrder,
    referencePattern: reference,
  };
}

function given<Value>(value: Parsed<Value>): Value {
  if (!value.ok) throw new UsageError(`--source ${value.problem}.`);
  return value.value;
}

/** Returns what a request says of a bank's file. */
export function placeFields({ place, ...options }: PlaceOfFile): MessageJson {
  const form = formFields(options);
  return { place, ...(form === undefined ? {} : { form }) };
}
