import { expect } from "chai";

interface BadField {
  readonly field: string;
  readonly message: string;
}

const WORDS_MAX = 25;

/**
 * Expects the style of a `detail` or a status message: whole sentences of at most 25 words. They
 * say what is wrong, whether anything was done if that is known ("Nothing was done."), and what to
 * do. For bad input the text is composed of the fields. A field has its name on the wire. Names,
 * ids and amounts stand without quotes, and a text that the caller chose in double quotes. The
 * server and the gateway use the same words for the same thing.
 */
export function expectDetail(detail: string, fields: readonly BadField[] = []): void {
  expect(detail).to.match(/^[A-Z].*\.$/s);
  if (fields.length === 0) return;
  const composed = fields.map(({ field, message }) => `${field} ${message}`).join("; ");
  expect(detail).to.equal(`Invalid request: ${composed}.`);
  for (const { message } of fields) expectFieldMessage(message);
}

/**
 * The message about a field continues a sentence that begins with the field's name, and gives
 * examples and limits in the words of all others.
 */
function expectFieldMessage(message: string): void {
  expect(message).to.match(/^(must|is|has) .*[^.;]$/s);
  expect(message).not.to.match(/e\.g\.|for example|can't|cannot|maximum/);
}

/** Expects short sentences. A text with facts of a caller may have longer ones. */
export function expectShortSentences(detail: string): void {
  for (const sentence of detail.split(/(?<=\.) /)) {
    expect(sentence, detail).to.match(/^[A-Z]/);
    expect(sentence.split(" ").length, sentence).to.be.at.most(WORDS_MAX);
  }
}
