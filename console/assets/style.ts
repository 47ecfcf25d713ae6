import { COLOURS } from "../../runtime/look.js";

/** The one style sheet. */
export const STYLE = `${COLOURS}* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 0.9375rem/1.5 system-ui, sans-serif;
  display: grid;
  grid-template: auto auto 1fr / 13.5rem minmax(0, 1fr);
  min-height: 100vh;
}
a { color: var(--accent); text-underline-offset: 0.2em; text-decoration-thickness: 0.07em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: 0.5rem; }

.bar {
  grid-column: 1 / -1;
  display: flex;
  flex-wrap: wrap;
  gap: 0.5rem 1.5rem;
  align-items: center;
  padding: 0.6rem 1.5rem;
  border-bottom: 1px solid var(--line);
}
.bar .brand { width: 10.5rem; color: var(--ink); font-weight: 700; letter-spacing: 0.06em; text-decoration: none; }
.bar .organization a { color: var(--ink); font-weight: 600; text-decoration: none; }
.tag { margin-left: 0.5rem; padding: 0.05rem 0.45rem; border: 1px solid var(--line); border-radius: 1rem; color: var(--faint); }
.tag.bad { color: var(--bad); }
.find { display: flex; flex: 1 1 18rem; max-width: 36rem; gap: 0.4rem; }
.find input { flex: 1; min-width: 0; }
.person { display: flex; gap: 1rem; align-items: center; margin-left: auto; }
.person small { color: var(--faint); }
input, select, button {
  font: inherit;
  color: inherit;
  min-height: 2.25rem;
  padding: 0.25rem 0.6rem;
  background: var(--paper);
  border: 1px solid var(--faint);
  border-radius: 6px;
}
input::placeholder { color: var(--faint); opacity: 1; }
button { cursor: pointer; font-weight: 600; }
button.plain { border-color: transparent; color: var(--accent); font-weight: 400; padding: 0.25rem 0; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--paper); padding: 0.5rem 1.2rem; }

nav { padding: 1rem 0.75rem; border-right: 1px solid var(--line); grid-row: 2 / 4; }
.menu { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav .group > span { display: block; padding: 0 0.75rem 0.15rem; color: var(--faint); font-size: 0.8rem; }
nav a {
  display: flex;
  justify-content: space-between;
  align-items: center;
  padding: 0.35rem 0.75rem;
  border-radius: 6px;
  color: var(--ink);
  text-decoration: none;
}
nav a:hover { background: var(--card); }
nav a[aria-current] { background: var(--card); font-weight: 600; box-shadow: inset 3px 0 var(--accent); }
[hidden] { display: none !important; }
.badge { min-width: 1.5rem; padding: 0 0.4rem; border-radius: 1rem; background: var(--wait); color: var(--paper); font-size: 0.8rem; font-weight: 600; text-align: center; }
.badge.unknown { background: none; border: 1px solid var(--faint); color: var(--faint); }

main { padding: 1.5rem 2rem 2rem; min-width: 0; max-width: 76rem; }
.text.long, .facts dd, code { overflow-wrap: anywhere; }
footer { grid-column: 2; padding: 0 2rem 2rem; color: var(--faint); font-size: 0.85rem; align-self: end; }
h1 { margin: 0 0 0.5rem; font-size: 1.6rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; }
h2 { margin: 2.25rem 0 0.5rem; font-size: 1.1rem; font-weight: 650; }
h3 { margin: 1.5rem 0 0.5rem; font-size: 0.95rem; }
h1 .status { font-size: 0.95rem; font-weight: 500; letter-spacing: 0; margin-left: 0.5rem; vertical-align: middle; }
p { margin: 0.5rem 0; }
.lead { font-size: 1.05rem; max-width: 46rem; }
.past { margin: -0.5rem 0 1.25rem; padding: 0.5rem 0.9rem; border-left: 4px solid var(--note); background: var(--card); }

.verdict { margin: 0 0 1.5rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-left: 5px solid var(--accent); border-radius: 6px; background: var(--card); }
.verdict.wait { border-left-color: var(--wait); }
.verdict.bad { border-left-color: var(--bad); }
.verdict h1, .verdict h2 { margin: 0; }
.verdict h1 a { color: inherit; text-decoration-thickness: 0.05em; }
.verdict.note { border-left-color: var(--note); }
.verdict .figure { margin: 0.25rem 0; font-size: 2.5rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.verdict .figure small { font-size: 0.95rem; font-weight: 400; letter-spacing: 0; color: var(--faint); }
.verdict table.sum { margin-left: 0; }
.verdict ul { margin: 0.5rem 0 0; padding-left: 1.2rem; }
.figures { display: grid; grid-template-columns: repeat(3, 1fr); gap: 0.75rem; list-style: none; margin: 1rem 0; padding: 0; }
.figures li { border: 1px solid var(--line); border-radius: 6px; }
.figures li > a { display: block; height: 100%; color: inherit; text-decoration: none; border-radius: 6px; }
.figures li > a:hover { background: var(--card); }
.figures li > a, .figures li:not(:has(> a)) { padding: 0.75rem 1rem; }
.figures span { display: block; }
.figures .name, .figures .age { color: var(--faint); font-size: 0.85rem; }
.figures .value { font-size: 1.45rem; font-weight: 600; font-variant-numeric: tabular-nums; letter-spacing: -0.01em; }
.figures .value span { display: inline; }
.figures .value small { font-size: 0.8rem; font-weight: 400; color: var(--faint); }

table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
caption { padding: 0.25rem 0; color: var(--faint); text-align: left; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: baseline; }
th { color: var(--faint); font-size: 0.8rem; font-weight: 500; }
tbody tr:hover { background: var(--card); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.number:last-child, td.number:last-child { padding-right: 0.25rem; }
td a, td .id { white-space: nowrap; }
/* The id of a person stands below the name, and takes two lines where the table is wide. */
td .text + code.id { display: block; width: 9.5rem; white-space: normal; overflow-wrap: anywhere; }
td a:has(.text) { white-space: normal; }
td .text[title] { white-space: nowrap; }
tfoot th, tfoot td { padding: 0.35rem 1rem 0.35rem 0; border-bottom: 0; color: var(--ink); font-size: inherit; font-weight: 600; text-align: right; }
tfoot tr:first-child > * { border-top: 2px solid var(--ink); }
tbody:has(+ tfoot) tr:last-child > * { border-bottom: 0; }
td time { font-variant-numeric: tabular-nums; white-space: nowrap; }
td a.cut, td a.cut:has(.text) { display: block; max-width: 34rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
td a.cut .text { overflow-wrap: normal; }
.narrow { max-width: 46rem; }
table.sum { width: auto; min-width: 24rem; margin: 0.75rem 0 0 auto; }
table.sum th { font-size: inherit; color: inherit; }
.total th, .total td { border-top: 2px solid var(--ink); font-weight: 650; }
.status { white-space: nowrap; }
.status:not(.plain) { padding: 0.05rem 0.5rem; border-radius: 1rem; background: color-mix(in srgb, currentColor 9%, transparent); }
.good { color: var(--accent); }
.wait { color: var(--wait); }
.bad { color: var(--bad); }
.note { color: var(--note); }
.verdict, .verdict.good, .verdict.wait, .verdict.bad, .verdict.note { color: var(--ink); }
.unknown { color: var(--note); font-style: italic; font-weight: 400; }
.none, .empty, .advice { color: var(--faint); }
code, .id { font-family: ui-monospace, monospace; font-size: 0.9em; }
code.id { user-select: all; }
td code.id + code.id { margin-left: 0.5rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 0 2rem; margin: 1rem 0; }
.facts > div { padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
.facts dt { color: var(--faint); font-size: 0.8rem; }
.facts dd { margin: 0; }
.refused { margin: 0.75rem 0; padding: 0.6rem 0.9rem; border-left: 4px solid var(--note); background: var(--card); }
.refused.bad { border-left-color: var(--bad); color: var(--ink); }
.refused p { margin: 0; }
.commands { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 6px; white-space: pre-wrap; line-height: 1.7; }
.filters { display: flex; flex-wrap: wrap; gap: 0.75rem 1rem; align-items: end; margin: 1rem 0; }
.filters fieldset { border: 0; padding: 0; margin: 0; flex-basis: 100%; }
.filters legend { padding: 0; }
.filters label, .filters legend { color: var(--faint); font-size: 0.8rem; }
.filters input, .filters select { display: block; font-size: 0.9375rem; color: var(--ink); }
.filters .choice { display: inline-flex; align-items: center; gap: 0.35rem; margin-right: 1rem; min-height: 2.25rem; font-size: 0.9rem; color: var(--ink); }
.choice input { min-height: 0; }
.filters details[open] { flex-basis: 100%; }
.filters summary { width: max-content; }
@media (min-width: 60.01rem) {
  @supports selector(::details-content) {
    .narrowing > summary { display: none; }
    .narrowing::details-content { display: block; content-visibility: visible; }
  }
}
table + table { margin-top: 1.5rem; }
.ranges { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; }
.ranges a { display: inline-flex; align-items: center; min-height: 1.75rem; }
.ranges a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
.export { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; align-items: baseline; margin-top: 1rem; }
.export small { color: var(--faint); }
.paper { display: none; }
.more { margin-top: 1rem; }
.news { position: fixed; bottom: 0; left: 0; right: 0; margin: 0; padding: 0.6rem 1.75rem; background: var(--card); border-top: 3px solid var(--accent); text-align: center; }
.acts { display: flex; flex-wrap: wrap; gap: 0.6rem; list-style: none; margin: 0.5rem 0; padding: 0; }
.act { display: inline-flex; align-items: center; gap: 0.5rem; min-height: 2.25rem; padding: 0.25rem 0.8rem; border: 1px solid var(--faint); border-radius: 6px; color: var(--ink); font-weight: 500; text-decoration: none; }
.act:hover { background: var(--card); }
.act.final { border-color: var(--bad); color: var(--bad); }
.act.off { border-color: var(--line); color: var(--faint); font-weight: 400; }
.acts li:has(> details[open]) { flex-basis: 100%; }
a[target]::after { content: " ↗" / " (in a new tab)"; }
.form { display: grid; gap: 1rem; max-width: 32rem; margin: 1.25rem 0; }
.form label { display: block; font-weight: 600; }
.form label small { display: block; color: var(--faint); font-weight: 400; }
.form label:not(.choice) input, .form select { display: block; width: 100%; margin-top: 0.25rem; font-weight: 400; }
.form label.choice { display: flex; gap: 0.5rem; align-items: baseline; margin: 0.4rem 0; font-weight: 400; }
.form fieldset { border: 0; margin: 0; padding: 0; }
.form legend { padding: 0; font-weight: 600; }
.form label > small:first-child { display: inline; }
.form .main { justify-self: start; }
dialog { color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 1.25rem 1.5rem; }
dialog td { padding-right: 1.5rem; }
.chart { max-width: 52rem; margin: 1rem 0; }
.chart ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; list-style: none; margin: 0 0 0.5rem; padding: 0; font-size: 0.85rem; }
.chart li svg { width: 2.25rem; height: 0.5rem; margin-right: 0.4rem; }
.chart path { fill: none; vector-effect: non-scaling-stroke; }
.chart .zero { stroke: var(--faint); }
.chart .grid { stroke: var(--line); }
.line-1 { stroke: var(--accent); stroke-width: 4; }
.line-2 { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 7 5; }
.line-3 { stroke: var(--wait); stroke-width: 3; stroke-dasharray: 2 3; }
.chart .up { fill: var(--accent); }
.chart .down { fill: var(--wait); }
.plot { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.25rem 0.6rem; color: var(--faint); font-size: 0.8rem; font-variant-numeric: tabular-nums; }
.plot svg { width: 100%; height: 12rem; overflow: visible; }
.plot .axis { display: flex; flex-direction: column; justify-content: space-between; margin: -0.75em 0; text-align: right; }
.plot .days { grid-column: 2; height: 1.5em; }
.plot text { fill: var(--faint); }
summary { cursor: pointer; color: var(--accent); min-height: 2.25rem; }

body:has(> .card) { display: block; }
.card { max-width: 27rem; margin: 12vh auto 2rem; padding: 0 1.5rem; }
.card .brand { color: var(--accent); font-weight: 700; letter-spacing: 0.06em; }
.card form { margin: 1.5rem 0; }
.card label { display: block; color: var(--faint); font-size: 0.85rem; }
.card input:not([type="hidden"]) { display: block; width: 100%; margin: 0.25rem 0 0.75rem; }
.card .main { width: 100%; min-height: 2.9rem; font-size: 1.05rem; }
.fingerprint { font: 600 1.7rem/1.4 ui-monospace, monospace; letter-spacing: 0.12em; }

table.list { font-size: 0.9rem; }
table.list thead th { position: sticky; top: 0; background: var(--paper); box-shadow: inset 0 -1px var(--line); }
table.list th, table.list td { padding-right: 0.75rem; }
@media (min-width: 88rem) {
  table.list td:not(:has(.status)) { white-space: nowrap; }
}
@media screen and (max-width: 80rem) {
  table.list .minor { display: none; }
}
@media (max-width: 60rem) {
  body { display: block; }
  .menu { display: contents; }
  nav { display: flex; overflow-x: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 0.4rem 1rem; }
  nav ul { display: flex; margin: 0; }
  nav .group > span { display: none; }
  nav .group + .group { border-left: 1px solid var(--line); margin-left: 0.4rem; padding-left: 0.4rem; }
  nav a { gap: 0.4rem; min-height: 44px; padding: 0.4rem 0.7rem; white-space: nowrap; }
  nav a[aria-current] { box-shadow: inset 0 -3px var(--accent); border-radius: 6px 6px 0 0; }
  .bar .brand { width: auto; }
}
@media (max-width: 40rem) {
  .bar { padding: 0.6rem 1rem; }
  .find { flex-basis: 100%; order: 1; }
  main { padding: 1rem 1rem 2rem; }
  footer { padding: 0 1rem 2rem; }
  h1 { font-size: 1.35rem; }
  h1 .status { margin-left: 0; }
  .hint { display: none; }
  table.list.list td:not(.minor):empty { display: none; }
  .figures { grid-template-columns: 1fr 1fr; gap: 0.5rem; }
  .figures li > a, .figures li:not(:has(> a)) { padding: 0.6rem 0.75rem; }
  .figures .value { font-size: 1.1rem; overflow-wrap: normal; }
  .verdict .figure { font-size: 1.75rem; }
  input, select, button, .act { min-height: 44px; }
  td a, td .id, td a.cut:has(.text) { white-space: normal; }
  summary { min-height: 44px; }
  table:not(.sum, .narrow > table) thead { display: none; }
  table:not(.sum, .narrow > table) tr { display: block; padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  table:not(.sum, .narrow > table) td { display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding: 0.1rem 0; border: 0; text-align: right; }
  table:not(.sum, .narrow > table) td::before { content: attr(data-head); color: var(--faint); font-size: 0.8rem; text-align: left; flex: none; }
  th.minor.minor, td.minor.minor { display: none; }
  th.number:last-child, td.number:last-child { padding-right: 0; }
  table.sum { min-width: 0; width: 100%; }
  td a { min-height: 44px; display: inline-flex; align-items: center; justify-content: end; }
  .ranges a, .export a { min-height: 44px; display: inline-flex; align-items: center; }
  table.list.list tr { display: flex; flex-wrap: wrap; align-items: center; gap: 0 0.75rem; padding: 0.25rem 0; }
  table.list.list tbody tr::after { content: ""; flex-basis: 100%; order: 3; }
  table.list.list td:not(.minor) { display: block; order: 4; padding: 0; text-align: left; }
  table.list.list td::before { content: none; }
  table.list.list td.title.title { order: 1; }
  table.list.list td.number:not(:last-child):has(.none) { display: none; }
  table.list.list td.number::before { content: attr(data-head) " "; }
  table.list.list td.number.number:last-child { order: 2; margin-left: auto; }
  table.list.list td a { justify-content: start; }
  table.list.list tbody tr { position: relative; }
  table.list.list td.title a::after { content: ""; position: absolute; inset: 0; }
  table.list.list td:not(.title) a { position: relative; z-index: 1; }
  table.list.list tfoot th { flex: 1; text-align: left; }
}
@page {
  margin: 15mm 15mm 18mm;
  @bottom-right { content: "Page " counter(page) " of " counter(pages); font-size: 8pt; }
}
@media print {
  body { display: block; background: none; font-size: 9pt; }
  .skip, .bar, nav, .filters, .narrowing, .ranges, .more, .acts, .export, .screen, .news, dialog, footer a, .hint { display: none !important; }
  .paper { display: block; }
  main, footer { max-width: none; padding: 0; }
  table, table.list { font-size: 8pt; }
  th, td { padding: 0.25rem 0.75rem 0.25rem 0; }
  tr, .facts > div { break-inside: avoid; }
  a { color: inherit; text-decoration: none; }
}
`;
