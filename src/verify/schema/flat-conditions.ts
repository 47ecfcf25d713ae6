const OPERATORS = [" AND ", " OR "] as const;
/** Stands for one character inside parentheses or quotes. No definition contains it. */
const INNER = "\u0000";

/**
 * Removes the parentheses around a chain of ANDs inside a chain of ANDs, and so with OR. PostgreSQL
 * removes some of them itself when it reads its own text again, as after a dump. Where they stand
 * does not change the result: both operators are associative.
 *
 * `definition` is a text of the catalog: every other operand stands in parentheses of its own.
 */
export function withFlatConditions(definition: string): string {
  const shallow = shallowOf(definition);
  const operator = OPERATORS.find((each) => shallow.includes(each));
  if (operator === undefined) return withFlatGroups(definition, shallow);
  return operandsOf(definition, operator)
    .map((operand) => {
      const flat = withFlatGroups(operand, shallowOf(operand));
      const content = flat.slice(1, -1);
      const isChain = isGroup(flat) && shallowOf(content).includes(operator);
      return isChain ? content : flat;
    })
    .join(operator);
}

/** Flattens the text inside each pair of outer parentheses. */
function withFlatGroups(text: string, shallow: string): string {
  let flat = "";
  let end = 0;
  for (const { index, 0: group } of shallow.matchAll(new RegExp(`\\(${INNER}*\\)`, "g"))) {
    const closing = index + group.length - 1;
    flat += `${text.slice(end, index + 1)}${withFlatConditions(text.slice(index + 1, closing))}`;
    end = closing;
  }
  return flat + text.slice(end);
}

function isGroup(text: string): boolean {
  return new RegExp(`^\\(${INNER}*\\)$`).test(shallowOf(text));
}

function operandsOf(text: string, operator: string): readonly string[] {
  let start = 0;
  return shallowOf(text)
    .split(operator)
    .map(({ length }) => {
      const operand = text.slice(start, start + length);
      start += length + operator.length;
      return operand;
    });
}

/** Returns the text with `INNER` in place of each character inside parentheses or quotes. */
function shallowOf(text: string): string {
  let depth = 0;
  let quote = "";
  return text.replaceAll(/[^]/g, (char) => {
    if (quote !== "") {
      if (char === quote) quote = "";
      return INNER;
    }
    if (char === "'" || char === '"') {
      quote = char;
      return INNER;
    }
    if (char === ")") depth -= 1;
    const shown = depth === 0 ? char : INNER;
    if (char === "(") depth += 1;
    return shown;
  });
}
