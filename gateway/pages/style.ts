import { COLOURS } from "../../runtime/look.js";

/** The one stylesheet of all pages. */
export const STYLE = `${COLOURS}body {
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 1.0625rem/1.6 system-ui, sans-serif;
}
body > header, body > main {
  box-sizing: border-box;
  max-width: 46rem;
  margin: 0 auto;
  padding: 0 1.5rem;
}
body > header {
  padding-top: 1.5rem;
  font-weight: 650;
  letter-spacing: 0.06em;
}
body > header a {
  text-decoration: none;
}
body > main {
  padding-bottom: 4rem;
}
main > h1 {
  margin: 3rem 0 1rem;
  font-size: 2rem;
  line-height: 1.2;
  font-weight: 650;
  letter-spacing: -0.01em;
}
main > p {
  margin: 1rem 0;
}
body > header:has(+ .guide) {
  max-width: 64rem;
}
body > header a + a {
  margin-left: 1rem;
  font-weight: 400;
  letter-spacing: normal;
}
.guide {
  display: grid;
  grid-template-columns: 12rem minmax(0, 46rem);
  gap: 0 3rem;
  max-width: 64rem;
  margin: 0 auto;
  padding: 0 1.5rem 4rem;
}
.guide main {
  min-width: 0;
  overflow-wrap: anywhere;
}
.guide nav {
  padding-top: 3.4rem;
  font-size: 0.94rem;
}
.guide nav p {
  margin: 1rem 0 0.25rem;
  color: var(--faint);
}
.guide nav ul {
  list-style: none;
  margin: 0;
  padding: 0;
}
.guide nav a[aria-current] {
  color: var(--ink);
  font-weight: 600;
  text-decoration: none;
}
main > h2, main > h3 {
  margin: 2.5rem 0 0.5rem;
  line-height: 1.3;
}
main > pre, main li > pre {
  overflow-x: auto;
  padding: 0.9rem 1rem;
  border: 1px solid var(--line);
  border-radius: 6px;
  font-size: 0.875rem;
  line-height: 1.5;
}
code {
  font-family: ui-monospace, monospace;
  font-size: 0.9em;
}
pre code {
  font-size: inherit;
}
main > table {
  display: block;
  overflow-x: auto;
  border-collapse: collapse;
  font-size: 0.9rem;
  overflow-wrap: normal;
}
main > table th, main > table td {
  padding: 0.4rem 0.9rem 0.4rem 0;
  border-bottom: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
}
body > header a, main a, .guide nav a {
  color: var(--accent);
  text-underline-offset: 0.2em;
  text-decoration-thickness: 0.07em;
}
main > dl {
  margin: 2rem 0;
  border-top: 1px solid var(--line);
}
main > dl > div {
  display: grid;
  grid-template-columns: minmax(8.5rem, max-content) 1fr;
  gap: 0 1.5rem;
  padding: 0.55rem 0;
  border-bottom: 1px solid var(--line);
}
main > dl dt {
  font-family: ui-monospace, monospace;
  font-size: 0.94em;
}
main > dl dd {
  margin: 0;
  color: var(--faint);
}
@media (max-width: 56rem) {
  .guide {
    grid-template-columns: minmax(0, 1fr);
  }
  .guide nav {
    order: 1;
  }
}
@media (max-width: 36rem) {
  main > dl > div {
    grid-template-columns: 1fr;
  }
}
`;
