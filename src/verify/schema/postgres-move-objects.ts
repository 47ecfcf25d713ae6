/** The column of moves in `books`. */
export const BOOK_MOVE_COLUMNS = { "column arrived_seq": "bigint" } as const;

/** The objects of the table of moves: see `POSTGRES_OBJECTS`. */
export const POSTGRES_MOVE_OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  book_moves: {
    "column arrival_id": "text",
    "column book": "bigint NOT NULL",
    "column changed_at": "bigint NOT NULL",
    "column file_sha256": "text",
    "column move_id": "text NOT NULL",
    "column moved_to": "text",
    "column phase": "text NOT NULL",
    "column root": "text",
    "column rows_done": "bigint NOT NULL",
    "constraint book_moves_arrival_id_check": "CHECK ((arrival_id <> ''::text))",
    "constraint book_moves_book_fkey": "FOREIGN KEY (book) REFERENCES books(number)",
    "constraint book_moves_check":
      "CHECK (((phase <> ALL (ARRAY['LEFT'::text, 'COPIED'::text])) OR ((root IS NOT NULL) AND (arrival_id IS NOT NULL))))",
    "constraint book_moves_file_sha256_check": "CHECK ((length(file_sha256) = 64))",
    "constraint book_moves_move_id_check": "CHECK ((move_id <> ''::text))",
    "constraint book_moves_phase_check":
      "CHECK ((phase = ANY (ARRAY['LEAVING'::text, 'LEFT'::text, 'EMPTYING'::text, 'EMPTIED'::text, 'COPYING'::text, 'COPIED'::text])))",
    "constraint book_moves_pkey": "PRIMARY KEY (book)",
    "constraint book_moves_root_check": "CHECK ((length(root) = 64))",
    "constraint book_moves_rows_done_check": "CHECK ((rows_done >= 0))",
    table: "kind r, persistence p",
  },
};
