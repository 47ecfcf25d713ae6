/** The icon that browsers ask for by themselves: a coin. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<circle cx="8" cy="8" r="7" fill="#116149"/>
<path d="M6 4v8M10.5 4 6.5 8l4 4" stroke="white" stroke-width="1.6" fill="none"/>
</svg>
`;

/** The colours of all pages, in both schemes. Texts have a contrast of 4.5 at least. */
export const COLOURS = `:root {
  color-scheme: light dark;
  --paper: #fffefb;
  --card: #f6f7f3;
  --ink: #1c1f1d;
  --faint: #5d655f;
  --line: #dfe3dd;
  --accent: #116149;
  --wait: #8a5300;
  --bad: #a3261f;
  --note: #22508f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #141715;
    --card: #1c211e;
    --ink: #e7eae6;
    --faint: #9aa39c;
    --line: #2c322e;
    --accent: #6fcfa8;
    --wait: #e8b04a;
    --bad: #f1948c;
    --note: #8fb8f0;
  }
}
`;
