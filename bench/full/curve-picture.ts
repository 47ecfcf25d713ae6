/**
 * The curves as an SVG picture that needs nothing but itself, and follows the viewer's light or
 * dark scheme.
 */

export interface Curve {
  label: string;
  points: readonly { x: number; y: number }[];
}

export interface Panel {
  title: string;
  curves: readonly Curve[];
}

const PANEL = { width: 420, height: 300, left: 56, right: 16, top: 40, bottom: 44 } as const;
const LEGEND_HEIGHT = 36;
const X_TITLE = "calls in flight";

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #374151; }
  .title { font-size: 14px; font-weight: 600; fill: #111827; }
  .background { fill: #ffffff; }
  .grid { stroke: #e5e7eb; }
  .axis { stroke: #9ca3af; }
  .curve { fill: none; stroke-width: 2; }
  .curve0 { stroke: #6b7280; stroke-dasharray: 5 3; }
  .curve1 { stroke: #047857; }
  .dot0 { fill: #6b7280; }
  .dot1 { fill: #047857; }
  @media (prefers-color-scheme: dark) {
    text { fill: #c9d1d9; }
    .title { fill: #f0f6fc; }
    .background { fill: #0d1117; }
    .grid { stroke: #21262d; }
    .axis { stroke: #6e7681; }
    .curve0 { stroke: #9ca3af; }
    .curve1 { stroke: #34d399; }
    .dot0 { fill: #9ca3af; }
    .dot1 { fill: #34d399; }
  }`;

/**
 * Draws the panels side by side; both axes are logarithmic. All panels have the same curves, two at
 * most.
 */
export function pictureOf(panels: readonly Panel[]): string {
  const width = panels.length * PANEL.width;
  const height = PANEL.height + LEGEND_HEIGHT;
  const size = `width="${String(width)}" height="${String(height)}" viewBox="0 0 ${String(width)} ${String(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    `<title>${panels.map(({ title }) => title).join("; ")}, by ${X_TITLE}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="background" width="${String(width)}" height="${String(height)}"/>`,
    ...panels.flatMap((panel, i) => [
      `<g transform="translate(${String(i * PANEL.width)} 0)">`,
      ...panelLines(panel),
      `</g>`,
    ]),
    ...legendLines(panels[0]?.curves ?? []),
    `</svg>\n`,
  ].join("\n");
}

function panelLines({ title, curves }: Panel): string[] {
  const points = curves.flatMap((curve) => curve.points);
  const xs = [...new Set(points.map(({ x }) => x))];
  const ys = yTicks(points.map(({ y }) => y));
  const right = PANEL.width - PANEL.right;
  const bottom = PANEL.height - PANEL.bottom;
  const atX = logScale(xs, PANEL.left + 10, right - 10);
  const atY = logScale(ys, bottom, PANEL.top);
  return [
    text(title, { x: PANEL.left, y: 24, className: "title" }),
    ...ys.flatMap((y) => [
      line("grid", [PANEL.left, atY(y), right, atY(y)]),
      text(shortNumber(y), { x: PANEL.left - 8, y: atY(y) + 4, anchor: "end" }),
    ]),
    ...xs.flatMap((x) => [
      line("axis", [atX(x), bottom, atX(x), bottom + 5]),
      text(String(x), { x: atX(x), y: bottom + 19, anchor: "middle" }),
    ]),
    line("axis", [PANEL.left, bottom, right, bottom]),
    text(X_TITLE, { x: (PANEL.left + right) / 2, y: bottom + 37, anchor: "middle" }),
    ...curves.flatMap((curve, i) => [
      `<polyline class="curve curve${String(i)}" points="${curve.points.map(({ x, y }) => `${fixed(atX(x))},${fixed(atY(y))}`).join(" ")}"/>`,
      ...curve.points.map(({ x, y }) => dot(i, atX(x), atY(y))),
    ]),
  ];
}

function legendLines(curves: readonly Curve[]): string[] {
  const y = PANEL.height + LEGEND_HEIGHT / 2;
  return curves.flatMap(({ label }, i) => {
    const x = PANEL.left + i * 150;
    return [
      line(`curve curve${String(i)}`, [x, y, x + 28, y]),
      dot(i, x + 14, y),
      text(label, { x: x + 36, y: y + 4 }),
    ];
  });
}

/**
 * 1, 2 and 5 times the powers of ten, from the last one below all values to the first one above.
 */
function yTicks(values: readonly number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const from = Math.floor(Math.log10(least));
  const powers = Array.from({ length: Math.ceil(Math.log10(most)) - from + 1 }, (_, i) => 10 ** (from + i));
  const ticks = powers.flatMap((power) => [power, 2 * power, 5 * power]);
  const below = ticks.filter((tick) => tick <= least).at(-1) ?? least;
  const above = ticks.find((tick) => tick >= most) ?? most;
  return ticks.filter((tick) => tick >= below && tick <= above);
}

function logScale(values: readonly number[], from: number, to: number): (value: number) => number {
  const [least, most] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  return (value) => from + ((Math.log(value) - least) / (most - least || 1)) * (to - from);
}

/** 20000 as "20k", 0.05 as "0.05". */
function shortNumber(value: number): string {
  return value >= 1000 ? `${String(Number((value / 1000).toPrecision(3)))}k` : String(Number(value.toPrecision(3)));
}

function line(className: string, [x1, y1, x2, y2]: readonly [number, number, number, number]): string {
  return `<line class="${className}" x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}"/>`;
}

/** A square for the first curve, a circle for the others, so that nobody needs to see colours. */
function dot(curve: number, x: number, y: number): string {
  return curve === 0
    ? `<rect class="dot0" x="${fixed(x - 3.5)}" y="${fixed(y - 3.5)}" width="7" height="7"/>`
    : `<circle class="dot${String(curve)}" cx="${fixed(x)}" cy="${fixed(y)}" r="4"/>`;
}

function text(
  content: string,
  { x, y, anchor = "start", className = "" }: { x: number; y: number; anchor?: string; className?: string },
): string {
  const style = className === "" ? "" : ` class="${className}"`;
  return `<text${style} x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}">${content}</text>`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}
