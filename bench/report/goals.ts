/** A bound that a figure should keep. */
export interface Goal {
  /** The figure's name in a results file. */
  figure: string;
  bound: "≥" | "≤";
  value: number;
}

const atLeast = (value: number, figure: string): Goal => ({ figure, bound: "≥", value });
const atMost = (value: number, figure: string): Goal => ({ figure, bound: "≤", value });

/** Ratios only: they depend on the machine far less than rates do. */
export const GOALS: readonly Goal[] = [
  atLeast(0.5, "mints ÷ empty calls, 100 in flight"),
  atLeast(0.5, "mints ÷ empty calls, 400 in flight"),
  atLeast(4, "mints ÷ one commit for each mint, 100 in flight"),
  atLeast(2, "mints in batches of 1,000 ÷ single mints, 400 in flight"),
  atLeast(0.6, "GetAccount ÷ empty calls, 100 in flight"),
  atLeast(1, "REST mints ÷ bare Express echo, 64 in flight"),
  atLeast(1, "REST mints ÷ bare Express echo, 256 in flight"),
  atMost(1.5, "one mint alone ÷ (one empty call + one write with fdatasync), p50"),
  atMost(1, "p99 of mints ÷ empty calls, each at half of its peak"),
  atLeast(0.95, "rate of mints ÷ empty calls, full database ÷ a hundredth of it"),
  atMost(1.2, "memory of the server, full database ÷ a hundredth of it"),
  atMost(1.1, "last ÷ first page of an account, p50"),
  atMost(1.1, "last ÷ first page of the organization, p50"),
  atLeast(3, "PostgreSQL mints ÷ the shortest SQL function, 400 in flight"),
  ...["sqlite", "postgres"].flatMap((engine) => [
    atLeast(0.9, `rate of direct mints, beside 1,000 open payments ÷ alone, ${engine}`),
    atMost(1.03, `main µs of direct mints, beside 1,000 open payments ÷ alone, ${engine}`),
    atLeast(0.9, `rate of mints beside a watcher, a webhook and seals ÷ without, ${engine}`),
    atLeast(0.9, `rate of mints beside 1,000 watchers of as many organizations ÷ without, ${engine}`),
    atMost(500, `lag of events at 100 watchers of one organization, p99, ${engine}`),
  ]),
  atMost(1.05, "memory of the server, last quarter ÷ second"),
  atMost(1.05, "memory of the gateway, last quarter ÷ second"),
];

export function isMet({ bound, value }: Goal, figure: number): boolean {
  return bound === "≥" ? figure >= value : figure <= value;
}
