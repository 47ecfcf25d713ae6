/** An object of the schema, such as a column, a constraint or a trigger. */
export interface SchemaObject {
  readonly table: string;
  /** Its kind and its name. */
  readonly name: string;
  /** Equal texts mean equal objects. */
  readonly definition: string;
}

export interface SchemaComparison {
  readonly expected: readonly SchemaObject[];
  /** The objects of the expected tables. Other tables may belong to other programs. */
  readonly found: readonly SchemaObject[];
  /** What is wrong apart from the objects. */
  readonly problems: readonly { readonly id: string; readonly expected: string; readonly found: string }[];
}
