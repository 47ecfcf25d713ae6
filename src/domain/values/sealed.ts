/** A secret, encrypted. Texts, because a thread gets a Buffer back as another class. */
export interface Sealed {
  /** The encrypted bytes, in hexadecimal. */
  readonly hex: string;
  /** The SHA-256 of the encrypted bytes, in hexadecimal. */
  readonly sha256: string;
}
