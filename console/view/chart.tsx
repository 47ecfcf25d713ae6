import type { ComponentChildren, VNode } from "preact";

import { decimalOf, moneyText, shortDayText } from "./values.js";

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
const INTERVALS = 4n;
/** More would overlap on a phone. */
const DAY_LABELS = 4;

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
  const scale = scaleOf(maxOf(values), maxOf(values.map((value) => -value)));
  const y = (cents: bigint): string => scale.pixels(scale.top - cents);
  const x = (index: number): number => (index / Math.max(1, days.length - 1)) * WIDTH;
  const marked = now === undefined ? [] : [now];
  return (
    <Plot
      name={name}
      days={days}
      x={x}
      scale={scale}
      keys={[...lines, ...marked].map((line, index) => [line.name, <path class={classOf(index)} d="M0 4H36" />])}
    >
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
  const [above = 0n, below = 0n] = [up, down].map(({ values }) => maxOf(values.map((value) => value ?? 0n)));
  const scale = scaleOf(above, below);
  const { pixels, top } = scale;
  const step = WIDTH / days.length;
  return (
    <Plot
      name={name}
      days={days}
      x={(index) => (index + BAR_SHARE / 2) * step}
      scale={scale}
      keys={[
        [up.name, <rect class="up" width="36" height="8" />],
        [down.name, <rect class="down" width="36" height="8" />],
      ]}
      isMirrored
    >
      {days.map((day, index) => {
        const [rising, falling] = [up.values[index] ?? 0n, down.values[index] ?? 0n];
        const place = { x: (index * step).toFixed(1), width: (step * BAR_SHARE).toFixed(1) };
        return (
          <g key={day}>
            <rect class="up" {...place} y={pixels(top - rising)} height={pixels(rising)} />
            <rect class="down" {...place} y={pixels(top)} height={pixels(falling)} />
          </g>
        );
      })}
    </Plot>
  );
}

interface PlotProps {
  readonly name: string;
  readonly days: Days;
  /** Returns where a day is, from 0 to WIDTH. */
  readonly x: (index: number) => number;
  readonly scale: Scale;
  /** The names of the lines with a piece of each. */
  readonly keys: readonly (readonly [string, VNode])[];
  /** Whether what is below the zero is no less than zero: its labels have no sign. */
  readonly isMirrored?: true;
  readonly children: ComponentChildren;
}

/** The frame of a chart: ticks with round amounts, and days below. */
function Plot({ name, days, x, scale: { ticks, top, pixels }, keys, isMirrored, children }: PlotProps): VNode {
  const every = Math.ceil(days.length / DAY_LABELS);
  const labelled = days.flatMap((day, index) =>
    (days.length - 1 - index) % every === 0 ? [{ day, x: x(index) }] : [],
  );
  return (
    <div class="chart">
      <ul>
        {keys.map(([key, piece]) => (
          <li key={key}>
            <svg viewBox="0 0 36 8" aria-hidden="true">
              {piece}
            </svg>
            {key}
          </li>
        ))}
      </ul>
      <div class="plot">
        <div class="axis">
          {labelsOf(ticks, isMirrored === true).map((label, index) => (
            <span key={index}>{label}</span>
          ))}
        </div>
        <svg viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none" role="img" aria-label={name}>
          {ticks.map((cents) => (
            <path key={cents} class={cents === 0n ? "zero" : "grid"} d={`M0 ${pixels(top - cents)}H${String(WIDTH)}`} />
          ))}
          {children}
          {labelled.map((each) => (
            <path key={each.day} class="zero" d={`M${each.x.toFixed(1)} ${String(HEIGHT)}v5`} />
          ))}
        </svg>
        <svg class="days">
          {labelled.map(({ day, x: at }) => (
            <text key={day} x={`${((at / WIDTH) * 100).toFixed(1)}%`} y="1em" text-anchor={anchorOf(at)}>
              {shortDayText(day)}
            </text>
          ))}
        </svg>
      </div>
    </div>
  );
}

/** A label at an end must not leave the picture. */
function anchorOf(x: number): "start" | "middle" | "end" {
  if (x < WIDTH * 0.05) return "start";
  return x > WIDTH * 0.95 ? "end" : "middle";
}

/** Labels have cents only if one of them needs cents. */
function labelsOf(ticks: readonly bigint[], isMirrored: boolean): readonly string[] {
  const hasCents = ticks.some((cents) => cents % 100n !== 0n);
  return ticks.map((cents) => {
    const text = moneyText(decimalOf(isMirrored && cents < 0n ? -cents : cents));
    return hasCents ? text : text.replace(/\.00$/, "");
  });
}

function classOf(index: number): string {
  return `line-${String(index + 1)}`;
}

/** A line with a gap at each unknown value. One value alone is a dot. */
function pathOf(values: readonly Value[], x: (index: number) => number, y: (cents: bigint) => string): string {
  let isDrawn = false;
  const steps = values.map((value, index) => {
    const begins = !isDrawn;
    isDrawn = value !== undefined;
    if (value === undefined) return "";
    return `${begins ? "M" : "L"}${x(index).toFixed(1)} ${y(value)}${begins ? "h0.1" : ""}`;
  });
  return steps.join("");
}

function maxOf(values: readonly bigint[]): bigint {
  return values.reduce((max, value) => (value > max ? value : max), 0n);
}

interface Scale {
  /** The amount at the top of the picture. */
  readonly top: bigint;
  /** Round amounts at equal distances, from the top to the bottom. */
  readonly ticks: readonly bigint[];
  /** Returns how high an amount is in the picture. Only here an amount becomes a float. */
  readonly pixels: (cents: bigint) => string;
}

/** The picture has this much above the zero, and this much below it, up to the next tick. */
function scaleOf(above: bigint, below: bigint): Scale {
  const step = stepOf(above + below);
  const [up, down] = [ceilOf(above, step), ceilOf(below, step)];
  const top = (up === 0n && down === 0n ? 1n : up) * step;
  const height = top + down * step;
  const ticks = Array.from({ length: Number(height / step) + 1 }, (_, index) => top - BigInt(index) * step);
  return { top, ticks, pixels: (cents) => ((Number(cents) / Number(height)) * HEIGHT).toFixed(1) };
}

/** Returns the smallest of 1, 2, 5, 10, 20, 50… cents that needs few steps for a range. */
function stepOf(range: bigint): bigint {
  if (range === 0n) return 100n;
  for (let power = 1n; ; power *= 10n) {
    const step = [1n, 2n, 5n].map((digit) => digit * power).find((each) => each * INTERVALS >= range);
    if (step !== undefined) return step;
  }
}

function ceilOf(value: bigint, step: bigint): bigint {
  return (value + step - 1n) / step;
}
