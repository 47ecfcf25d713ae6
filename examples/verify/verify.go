// Checks that a row is in a book, without trusting the service, with the packages of Go's own checksum database:
// the signed note, the inclusion proof, and the growth since an earlier checkpoint.
//
//	go run verify.go KEY proof.json             KEY is the verifier key that you trust, proof.json the answer of
//	                                            GET /seals/inclusion-proof?transaction_id=...
//	go run verify.go KEY proof.json old.json    old.json is an earlier answer of GET /seals/checkpoint; consistency.json in this folder
//	                                            GET /seals/consistency-proof?old_size=...&size=...
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type checkpoint struct {
	SignedNote string `json:"signed_note"`
}

type proof struct {
	Checkpoint checkpoint
	Hashes     []tlog.Hash
	LeafIndex  int64 `json:"leaf_index"`
	Leaf       struct{ Text string }
}

func must(err error) {
	if err != nil {
		fmt.Println("NO:", err)
		os.Exit(1)
	}
}

func read(file string, into any) {
	content, err := os.ReadFile(file)
	must(err)
	must(json.Unmarshal(content, into))
}

// treeOf verifies the signature of a checkpoint. Returns the number of its rows, and the hash over them.
func treeOf(signed checkpoint, verifier note.Verifier) (int64, tlog.Hash) {
	opened, err := note.Open([]byte(signed.SignedNote), note.VerifierList(verifier))
	must(err)
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		must(fmt.Errorf("the note is of another log"))
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := tlog.ParseHash(lines[2])
	must(err)
	return size, root
}

func main() {
	verifier, err := note.NewVerifier(os.Args[1])
	must(err)
	var row proof
	read(os.Args[2], &row)
	size, root := treeOf(row.Checkpoint, verifier)
	must(tlog.CheckRecord(row.Hashes, size, root, row.LeafIndex, tlog.RecordHash([]byte(row.Leaf.Text))))
	var text []string
	must(json.Unmarshal([]byte(row.Leaf.Text), &text))
	if len(text) < 3 || !strings.HasSuffix(verifier.Name(), "/"+text[1]) || text[2] != strconv.FormatInt(row.LeafIndex+1, 10) {
		must(fmt.Errorf("the row is of another place"))
	}
	fmt.Printf("YES: row %d of %d: %s\n", row.LeafIndex+1, size, row.Leaf.Text)
	if len(os.Args) == 3 {
		return
	}
	var old checkpoint
	read(os.Args[3], &old)
	oldSize, oldRoot := treeOf(old, verifier)
	var growth proof
	read("consistency.json", &growth)
	must(tlog.CheckTree(growth.Hashes, size, root, oldSize, oldRoot))
	fmt.Printf("YES: the first %d rows are those of the earlier checkpoint\n", oldSize)
}
