import type { VNode } from "preact";

import { ActLink, Acts } from "../acts/act-links.js";
import type { Limit, LimitSetting } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { type Column, Section, Table } from "../view/parts.js";
import { limitWords, Money, Time } from "../view/values.js";

const TYPES = ["mint", "redeem"];
const PERIODS = ["transaction", "day", "month"];
/** Beyond these, a redemption waits for a person. */
const HELD_PERIODS = ["held_amount", "held_day", "held_new_destination", "held_changed"];
const DEFAULT_TIER = "default";

/** How much may be minted and redeemed, at once and in a period? */
export const limitsPage: Page = {
  path: "/:org/limits",
  async show(visit) {
    const reading = await visit.read("AdminService/GetLimits", {});
    return {
      title: "Limits",
      body: (
        <>
          <h1>Limits</h1>
          <p class="lead">
            A transaction must fit the limits of its account's tier, and those of the organization. A limit holds from
            the next transaction on. Beyond an amount "without a release", a payout waits until a person releases it.
          </p>
          <Section title="The organization itself" reading={reading} retry={visit.path}>
            {({ limits: { limits }, tiers }) => (
              <>
                <Limits visit={visit} tier="" limits={limits} />
                {tiers.map(({ tier, limits: own }) => (
                  <section key={tier}>
                    <h2>Each account of the tier {tier}</h2>
                    {tier === DEFAULT_TIER ? (
                      <p>A new account has this tier. One whose tier has no limits here has these.</p>
                    ) : null}
                    <div class="narrow">
                      <Limits visit={visit} tier={tier} limits={own} />
                    </div>
                  </section>
                ))}
                {tiers.length === 0 ? <p class="empty">No tier has limits of its own.</p> : null}
                <Acts visit={visit} acts={[["tier-limit", {}]]} />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

interface LimitsProps {
  readonly visit: Visit;
  /** Empty for the organization itself. */
  readonly tier: string;
  readonly limits: readonly (LimitSetting | Limit)[];
}

interface Row {
  readonly type: string;
  readonly period: string;
  readonly set: LimitSetting | Limit | undefined;
}

/** The limits of one tier, set or not. Only those of the organization itself have a use. */
function Limits({ visit, tier, limits }: LimitsProps): VNode {
  const rows: readonly Row[] = TYPES.flatMap((type) =>
    [...PERIODS, ...(type === "redeem" ? HELD_PERIODS : [])].map((period) => ({
      type,
      period,
      set: limits.find((each) => each.type === type && each.period === period),
    })),
  );
  const used = ({ set }: Row): Limit | undefined => (set !== undefined && "used" in set ? set : undefined);
  const columns: readonly Column<Row>[] = [
    { head: "Limit", cell: ({ type, period }) => limitWords(type, period) },
    {
      head: "At most, KES",
      cell: ({ set }) => (set === undefined ? <span class="none">no limit</span> : <Money>{set.max_amount}</Money>),
      isMoney: true,
    },
    ...(tier === ""
      ? ([
          { head: "Used", cell: (row) => <Money>{used(row)?.used ?? null}</Money>, isMoney: true },
          { head: "Left", cell: (row) => <Money>{used(row)?.remaining ?? null}</Money>, isMoney: true },
          { head: "Begins again", cell: (row) => <Time>{used(row)?.resets_at ?? null}</Time>, isMinor: true },
        ] satisfies readonly Column<Row>[])
      : []),
    {
      head: "Action",
      cell: ({ type, period, set }) => (
        <ActLink visit={visit} name="limit" linked={{ tier, type, period }}>
          {set === undefined ? "Set" : "Change"}
        </ActLink>
      ),
    },
  ];
  return (
    <>
      <Table columns={columns} rows={rows} empty="" />
      {limits.length === 0 ? null : (
        <p>
          <ActLink visit={visit} name="remove-limits" linked={{ tier }} />
        </p>
      )}
    </>
  );
}
