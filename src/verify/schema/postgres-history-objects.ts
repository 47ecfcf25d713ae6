/** The objects of the tables of marks and of the reserve: see `POSTGRES_OBJECTS`. */
export const POSTGRES_HISTORY_OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  account_marks: {
    "column account_id": "text NOT NULL",
    "column book": "bigint NOT NULL",
    "column seq": "bigint NOT NULL",
    "constraint account_marks_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint account_marks_pkey": "PRIMARY KEY (book, seq)",
    "constraint account_marks_seq_check": "CHECK ((seq > 0))",
    "index account_marks_by_account":
      "CREATE INDEX account_marks_by_account ON account_marks USING btree (account_id, seq)",
    table: "kind r, persistence p",
  },
  book_marks: {
    "column available_cents": "bigint NOT NULL",
    "column book": "bigint NOT NULL",
    "column held_cents": "bigint NOT NULL",
    "column reserve_cents": "bigint NOT NULL",
    "column seq": "bigint NOT NULL",
    "column shortfall_cents": "bigint NOT NULL",
    "column unallocated_cents": "bigint NOT NULL",
    "constraint book_marks_available_cents_check":
      "CHECK (((available_cents >= 0) AND (available_cents <= '9007199254740991'::bigint)))",
    "constraint book_marks_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint book_marks_check":
      "CHECK (((reserve_cents + shortfall_cents) = ((available_cents + held_cents) + unallocated_cents)))",
    "constraint book_marks_held_cents_check":
      "CHECK (((held_cents >= 0) AND (held_cents <= '9007199254740991'::bigint)))",
    "constraint book_marks_pkey": "PRIMARY KEY (book, seq)",
    "constraint book_marks_reserve_cents_check": "CHECK ((reserve_cents <= '9007199254740991'::bigint))",
    "constraint book_marks_seq_check": "CHECK ((seq > 0))",
    "constraint book_marks_shortfall_cents_check":
      "CHECK (((shortfall_cents >= 0) AND (shortfall_cents <= '9007199254740991'::bigint)))",
    "constraint book_marks_unallocated_cents_check":
      "CHECK (((unallocated_cents >= 0) AND (unallocated_cents <= '9007199254740991'::bigint)))",
    table: "kind r, persistence p",
  },
  reserve_places: {
    "column amount_cents": "bigint NOT NULL",
    "column as_of_day": "text NOT NULL",
    "column book": "bigint NOT NULL",
    "column evidence": "text NOT NULL",
    "column place": "text NOT NULL",
    "column recorded_at": "bigint NOT NULL",
    "column seq": "bigint NOT NULL",
    "constraint reserve_places_amount_cents_check":
      "CHECK (((amount_cents >= 0) AND (amount_cents <= '999999999999999'::bigint)))",
    "constraint reserve_places_as_of_day_check": "CHECK ((length(as_of_day) = 10))",
    "constraint reserve_places_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint reserve_places_evidence_check": "CHECK ((evidence <> ''::text))",
    "constraint reserve_places_pkey": "PRIMARY KEY (book, place)",
    "constraint reserve_places_place_check": "CHECK ((place <> ''::text))",
    "constraint reserve_places_seq_check": "CHECK ((seq > 1))",
    table: "kind r, persistence p",
  },
};
