const STYLE = `
:root { color-scheme: light dark }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1200px; padding: 0 1em }
h2 { font-size: 16px; margin: 2em 0 0.5em }
table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid #8884; padding: 4px 8px; text-align: left; vertical-align: top }
td:last-child { overflow-wrap: anywhere }
th { font-weight: 600; white-space: nowrap }
label, button { display: block; margin: 1em 0 }
input, select { display: block; font: inherit; padding: 4px; width: 20em }
`;

interface Html {
  /** Elements of the head, besides those that each page has. */
  readonly head?: string;
  readonly body: string;
}

export function documentOf({ head = "", body }: Html): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">${head}<link rel="icon" href="data:,"><title>Daraja simulator</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** For a text, and for an attribute in double quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${String(character.charCodeAt(0))};`);
}
