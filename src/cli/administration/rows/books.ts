import { formatCents } from "../../../domain/values/cents.js";
import { endOfDay, parseNairobiDay } from "../../../domain/values/nairobi-day.js";
import { argument } from "../../commands/arguments.js";
import { textOf, timeOf } from "../../commands/output.js";
import { type Each, type MessageJson } from "../row.js";
import { ageWords } from "./age.js";
import { ANY_ORGANIZATION, changedWord, EACH_ORGANIZATION } from "./each-organization.js";
import type { CommandRows } from "./written.js";

const CENTS = 100;
const NO_ORGANIZATIONS = "No organizations yet. Create one: kesc org create --name NAME";

interface AgedAmount {
  readonly cents: number;
  readonly ageSeconds: number;
}

const NEWEST_OF_EACH: Each = {
  ...EACH_ORGANIZATION,
  request: (organization) => {
    const { fields, beside } = EACH_ORGANIZATION.request(organization);
    return { fields: { ...fields, page_size: 1 }, beside };
  },
};

/** What is read of books: `kesc supply`, and lists of `kesc book`, `seal` and `reserve`. */
export const BOOK_ROWS: CommandRows = {
  "book list": {
    description: "list the books: state, sequence and time of the last row",
    rpc: "ListBooks",
    columns: {
      ORGANIZATION: "organization_id",
      STATE: ({ state, phase, suspended, changed }) =>
        [state, phase ?? [], suspended === true ? "suspended" : [], changedWord({ changed })]
          .flat()
          .map(textOf)
          .join(", "),
      SEQUENCE: "last_sequence",
      "LAST ROW": "last_recorded_at",
      CELL: "cell",
      NAME: "organization_name",
    },
    // Without several cells, their numbers say nothing.
    leftOutIf: { CELL: "0" },
    none: "No books yet. Each organization has one: kesc org create --name NAME",
  },
  supply: {
    description: "what is in circulation in each book, and what backs it, each figure with its age",
    rpc: "GetSupply",
    examples: ["", '--org "Acme" --json', "--as-of 2026-11-30"],
    parameters: [
      ANY_ORGANIZATION,
      {
        of: "--as-of?",
        help: "the sums at the end of this day in Kenya, and the figures for it, such as 2026-11-30",
        field: "as_of_time",
        parse: (text) => timeOf(endOfDay(argument(parseNairobiDay)(text))),
      },
    ],
    each: EACH_ORGANIZATION,
    columns: {
      ORGANIZATION: "organization_id",
      "IN CIRCULATION": "in_circulation",
      "RESERVE (BOOK)": "reserve",
      SHORTFALL: "shortfall",
      MINTED: "minted",
      REDEEMED: "redeemed",
      RECORDED: (supply) => sumOf(recordedIn(supply)),
      OLDEST: (supply) => ageOf(recordedIn(supply)),
      "REPORTED BY RAILS": (supply) => (isPast(supply) ? "" : sumOf(reportedIn(supply))),
      "OLDEST REPORT": (supply) => (isPast(supply) ? "" : ageOf(reportedIn(supply))),
      RULES: rulesOf,
      NAME: "organization_name",
    },
    leftOutIf: { SHORTFALL: "0.00", MINTED: "", REDEEMED: "", "REPORTED BY RAILS": "", "OLDEST REPORT": "", RULES: "" },
    none: NO_ORGANIZATIONS,
  },
  "reserve list": {
    description: "list the last figure of each place, with its age, or all figures of a period",
    rpc: "ListReserve",
    examples: ['"Acme"', '"Acme" --from 2026-11-01 --to 2026-11-30'],
    parameters: [
      "<organization>",
      { flags: "--from <day>", help: "all figures for this day in Kenya and later ones", field: "start" },
      { flags: "--to <day>", help: "all figures for this day in Kenya and earlier ones", field: "end" },
    ],
    columns: {
      PLACE: "place",
      KIND: "kind",
      AMOUNT: "amount",
      "AS OF": "as_of_day",
      AGE: ({ age_seconds: seconds }) => ageWords(Number(seconds)),
      EVIDENCE: "evidence",
      ROW: "sequence",
    },
    none: "No figures yet. Record one: kesc reserve record ORG --place NAME --amount A --as-of DAY --evidence TEXT",
  },
  "seal list": {
    description: "list how far each book is sealed, and its alarm",
    rpc: "ListSeals",
    parameters: [ANY_ORGANIZATION],
    each: NEWEST_OF_EACH,
    items: newestSeal,
    columns: {
      ORGANIZATION: "organization_id",
      SEALED: "size",
      AT: ({ sealed_at: sealedAt }) => textOf(sealedAt ?? "never"),
      ALARM: ({ alarm }) => textOf((alarm as MessageJson | null)?.["problem"]),
      NAME: "organization_name",
    },
    style: (_, heading) => (heading === "ALARM" ? "red" : undefined),
    none: NO_ORGANIZATIONS,
  },
};

/** Whether the supply is of a point in the past, of which no report of a rail is kept. */
function isPast({ backing }: MessageJson): boolean {
  return backing === null;
}

function recordedIn(supply: MessageJson): readonly AgedAmount[] {
  const { reserve_holdings: places } = (supply["backing"] ?? supply) as {
    readonly reserve_holdings: readonly MessageJson[];
  };
  return places.map(({ amount, age_seconds: age }) => ({ cents: centsOf(amount), ageSeconds: Number(age) }));
}

function reportedIn({ backing }: MessageJson): readonly AgedAmount[] {
  const { rail_balances: balances } = backing as { readonly rail_balances: readonly MessageJson[] };
  return balances
    .filter(({ currency }) => currency === "KES")
    .map(({ available, age_seconds: age }) => ({ cents: centsOf(available), ageSeconds: Number(age) }));
}

/** A figure that nobody gave is unknown. It is not zero. */
function sumOf(figures: readonly AgedAmount[]): string {
  if (figures.length === 0) return "unknown";
  const sum = figures.reduce((all, { cents }) => all + cents, 0);
  return `${sum < 0 ? "-" : ""}${formatCents(Math.abs(sum))}`;
}

/** How many of the rules of the reserve are in each state, such as "2 holds, 1 unknown". */
function rulesOf({ backing }: MessageJson): string {
  const { reserve_rules: rules = [] } = (backing ?? {}) as {
    readonly reserve_rules?: readonly { readonly state: string }[];
  };
  return ["broken", "unknown", "holds"]
    .map((state) => [rules.filter((each) => each.state === state).length, state] as const)
    .flatMap(([count, state]) => (count === 0 ? [] : [`${String(count)} ${state}`]))
    .join(", ");
}

/** A sum is only as good as its oldest figure. */
function ageOf(figures: readonly AgedAmount[]): string {
  return figures.length === 0 ? "-" : ageWords(Math.max(...figures.map(({ ageSeconds }) => ageSeconds)));
}

function centsOf(amount: unknown): number {
  return Math.round(Number(amount) * CENTS);
}

/** Returns the newest seal of a book with its alarm. A book without a seal has the size 0. */
function newestSeal({ seals, alarm }: MessageJson): readonly MessageJson[] {
  const [newest] = seals as readonly MessageJson[];
  return [{ size: "0", root_hash: null, sealed_at: null, ...newest, alarm }];
}
