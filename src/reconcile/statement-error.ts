/** The file is no statement of the account, or cannot be read. The message calls the file "it". */
export class StatementError extends Error {
  override readonly name: string = "StatementError";
}
