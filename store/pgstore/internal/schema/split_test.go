package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hongbao/chat/words"
	"hongbao/store/pgstore/internal/pg"
)

// TestWritesNameTheirBucket reads the source: on Citus, each statement that writes to a split table must name the bucket of its rows.
func TestWritesNameTheirBucket(t *testing.T) {
	found := 0
	for _, dir := range []string{"../..", "../../../tables", "../../../chain", "../../../audit"} {
		for _, text := range statementsOf(t, dir) {
			for _, write := range splitWrites(pg.OnCitus(text)) {
				found++
				if !strings.Contains(write, "bucket") {
					t.Errorf("the statement does not name the bucket of its rows, as statements of this table do: /*! bucket */ in\n%s", text)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d statements that write to split tables, want those of %d tables", found, len(splitTables))
	}
	for _, forgotten := range []string{
		`insert into claims (packet_id) values ($1)`, `update wallets set balance = 1 where user_id = $1`, `delete from reactions where room_id = $1`,
		`insert into requests (/*! bucket, */ user_id) values ($1); update wallets set balance = 0`,
	} {
		if !slices.ContainsFunc(splitWrites(pg.OnCitus(forgotten)), func(write string) bool { return !strings.Contains(write, "bucket") }) {
			t.Errorf("not noticed: %s", forgotten)
		}
	}
}

// splitWrites cuts out the statements that write to split tables, each up to the next write.
func splitWrites(text string) (writes []string) {
	starts := splitChange.FindAllStringIndex(text, -1)
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		writes = append(writes, text[start[0]:end])
	}
	return writes
}

// statementsOf returns all texts of the package's source that are string literals, or are made of several.
func statementsOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, isText := textOf(e)
			if isText {
				all = append(all, text)
			}
			return !isText
		})
	}
	return all
}

// textOf returns the text of a literal, or of a sum with one, in which "?" stands for what is no literal.
func textOf(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "?", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, isLeft := textOf(e.X)
		right, isRight := textOf(e.Y)
		return left + right, isLeft || isRight
	}
	return "?", false
}

func TestGathered(t *testing.T) {
	for query, want := range map[string]string{
		`select * from claims`: `select * from claims`,
		`select from wallets w full join transfers`: `with transfers as materialized (select * from transfers), wallets as materialized (select * from wallets) ` +
			`select from wallets w full join transfers`,
		`select from entries a, entries b`: `with entries as materialized (select * from entries) select from entries a, entries b`,
	} {
		if got := gathered(query); got != want {
			t.Errorf("%q becomes %q, want %q", query, got, want)
		}
	}
}

// TestBucketOfARoomIsInItsWords compares the two places where a room's bucket is computed: on Citus the index of the search lies with its room.
func TestBucketOfARoomIsInItsWords(t *testing.T) {
	for n := range 100 {
		room := fmt.Sprint("room ", n)
		if in := words.Hash(room, "word") & 15; in != int64(Bucket(room)) || in != words.Bucket(room) {
			t.Errorf("the word has the bucket %d, and the room %d and %d", in, Bucket(room), words.Bucket(room))
		}
	}
}
