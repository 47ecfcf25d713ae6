import type { ComponentChildren, VNode } from "preact";

import { Day, decimalOf, moneyText } from "./values.js";

/** Cents at the end of a day in Kenya, or of a day. Undefined: a read failed. */
type Value = bigint | undefined;

interface Line {
  readonly name: string;
  readonly values: readonly Value[];
}

/** The days of a chart, such as "2026-11-21", oldest first. */
type Days = readonly string[];

// The style stretches the picture to its place. So it has no text, and lines keep their width.
const WIDTH = 600;
const HEIGHT = 200;
const BAR_SHARE = 0.7;

interface LineChartProps {
  readonly name: string;
  readonly days: Days;
  /** At most two. They differ by dash and name. */
  readonly lines: readonly Line[];
  /** A figure of now, as a dash at the right end. */
  readonly now?: { readonly name: string; readonly cents: bigint } | undefined;
}

/** Lines along days, with the zero. A day without a value is a gap. */
export function LineChart({ name, days, lines, now }: LineChartProps): VNode {
  const values = [...lines.flatMap((line) => line.values), now?.cents, 0n].filter((value) => value !== undefined);
  const [top, bottom] = [maxOf(values), -maxOf(values.map((value) => -value))];
  const { pixels, zero } = scaleOf(top, -bottom);
  const y = (cents: bigint): string => pixels(zero - cents);
  const x = (index: number): string => ((index / Math.max(1, days.length - 1)) * WIDTH).toFixed(1);
  const marked = now === undefined ? [] : [now];
  return (
    <Plot
      name={name}
      days={days}
      axis={[moneyText(decimalOf(top)), moneyText(decimalOf(bottom))]}
      keys={[...lines, ...marked].map((line) => line.name)}
    >
      <path class="zero" d={`M0 ${y(0n)}H${String(WIDTH)}`} />
      {lines.map((line, index) => (
        <path key={line.name} class={classOf(index)} d={pathOf(line.values, x, y)} />
      ))}
      {marked.map(({ cents }) => (
        <path key="now" class={classOf(lines.length)} d={`M${String(WIDTH * 0.92)} ${y(cents)}H${String(WIDTH)}`} />
      ))}
    </Plot>
  );
}

interface BarChartProps {
  readonly name: string;
  readonly days: Days;
  readonly up: Line;
  readonly down: Line;
}

/** Two bars for each day: one up from the zero, and one down. A day without a value has none. */
export function BarChart({ name, days, up, down }: BarChartProps): VNode {
  const [top = 0n, bottom = 0n] = [up, down].map(({ values }) => maxOf(values.map((value) => value ?? 0n)));
  const { pixels, zero } = scaleOf(top, bottom);
  const step = WIDTH / days.length;
  return (
    <Plot
      name={name}
      days={days}
      axis={[`${moneyText(decimalOf(top))} ${up.name}`, `${moneyText(decimalOf(bottom))} ${down.name}`]}
      keys={[]}
    >
      {days.map((day, index) => {
        const [rising, falling] = [up.values[index] ?? 0n, down.values[index] ?? 0n];
        const place = { x: (index * step).toFixed(1), width: (step * BAR_SHARE).toFixed(1) };
        return (
          <g key={day}>
            <rect class="up" {...place} y={pixels(zero - rising)} height={pixels(rising)} />
            <rect class="down" {...place} y={pixels(zero)} height={pixels(falling)} />
          </g>
        );
      })}
      <path class="zero" d={`M0 ${pixels(zero)}H${String(WIDTH)}`} />
    </Plot>
  );
}

interface PlotProps {
  readonly name: string;
  readonly days: Days;
  /** The amounts at the top and at the bottom. */
  readonly axis: readonly [string, string];
  /** The names of the lines, in the order of their classes. */
  readonly keys: readonly string[];
  readonly children: ComponentChildren;
}

function Plot({ name, days, axis: [top, bottom], keys, children }: PlotProps): VNode {
  return (
    <div class="chart">
      {keys.length === 0 ? null : (
        <ul>
          {keys.map((key, index) => (
            <li key={key}>
              <svg viewBox="0 0 36 8" aria-hidden="true">
                <path class={classOf(index)} d="M0 4H36" />
              </svg>
              {key}
            </li>
          ))}
        </ul>
      )}
      <div class="plot">
        <div class="axis">
          <span>{top}</span>
          <span>{bottom}</span>
        </div>
        <svg viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none" role="img" aria-label={name}>
          {children}
        </svg>
        <div class="days">
          <Day>{days[0] ?? ""}</Day>
          <Day>{days.at(-1) ?? ""}</Day>
        </div>
      </div>
    </div>
  );
}

function classOf(index: number): string {
  return `line-${String(index + 1)}`;
}

/** A line with a gap at each unknown value. One value alone is a dot. */
function pathOf(values: readonly Value[], x: (index: number) => string, y: (cents: bigint) => string): string {
  let isDrawn = false;
  const steps = values.map((value, index) => {
    const begins = !isDrawn;
    isDrawn = value !== undefined;
    if (value === undefined) return "";
    return `${begins ? "M" : "L"}${x(index)} ${y(value)}${begins ? "h0.1" : ""}`;
  });
  return steps.join("");
}

function maxOf(values: readonly bigint[]): bigint {
  return values.reduce((max, value) => (value > max ? value : max), 0n);
}

interface Scale {
  /** The zero, in cents from the top of the picture. */
  readonly zero: bigint;
  /** Returns how high an amount is in the picture. Only here an amount becomes a float. */
  readonly pixels: (cents: bigint) => string;
}

/** The picture has this much above the zero, and this much below it. */
function scaleOf(above: bigint, below: bigint): Scale {
  const zero = above === 0n && below === 0n ? 1n : above;
  return { zero, pixels: (cents) => ((Number(cents) / Number(zero + below)) * HEIGHT).toFixed(1) };
}
