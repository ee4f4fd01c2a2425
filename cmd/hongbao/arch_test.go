package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// room is one package of the house: what it may import besides the standard library, what of that it must
// not, and why. Arrows point one way: cmd -> web -> {hub, chat, redpacket, wire}, redpacket -> chat, stores -> domain.
type room struct {
	may    []string
	mayNot []string
	why    string
}

func rooms() map[string]room {
	return map[string]room{
		"hongbao/chat": {
			mayNot: []string{"database/sql", "net/http"},
			why:    "who is in which room does not depend on any driver, router or wire format",
		},
		"hongbao/redpacket": {
			may:    []string{"hongbao/chat", "hongbao/redpacket/crashpoint", "golang.org/x/sync/singleflight", "golang.org/x/text/unicode/norm"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "what is right about money must be readable, and simulated, without any engine",
		},
		"hongbao/redpacket/crashpoint": {why: "every package may name a step, so it must know none"},
		"hongbao/hub": {
			may:    []string{"github.com/gorilla/websocket"},
			mayNot: []string{"encoding/json", "database/sql"},
			why:    "the hub knows connections and bytes: no JSON, SQL, money, rooms or tokens",
		},
		"hongbao/migrations": {why: "schemas are data"},
		"hongbao/store": {
			may: []string{
				"hongbao/chat", "hongbao/redpacket", "hongbao/hub",
				"hongbao/store/memstore", "hongbao/store/sqlitestore", "hongbao/store/redisstore", "hongbao/store/pgstore",
			},
			why: "it picks engines for the domain's contracts, and knows nobody who uses them",
		},
		"hongbao/store/cursor": {
			may: []string{"hongbao/chat"},
			why: "a place in a list is a text of a client's, whichever database the list is read from",
		},
		"hongbao/store/loopback": {
			may:    []string{"github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9"},
			mayNot: []string{"database/sql"},
			why:    "it starts servers, whoever uses them and whatever for",
		},
		"hongbao/store/memstore": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/hub"},
			mayNot: []string{"database/sql"},
			why:    "an engine knows the contracts it keeps, and no other engine",
		},
		"hongbao/store/redisstore": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/hub", "github.com/redis/go-redis/v9"},
			mayNot: []string{"database/sql"},
			why:    "an engine knows the contracts it keeps, its own driver, and no other engine",
		},
		"hongbao/store/pgstore": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/crashpoint", "hongbao/store/cursor", "hongbao/migrations", "github.com/jackc/pgx/v5"},
			why: "an engine knows the contracts it keeps, its own driver, and no other engine",
		},
		"hongbao/store/sqlitestore": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/crashpoint", "hongbao/store/cursor", "hongbao/migrations", "modernc.org/sqlite"},
			why: "an engine knows the contracts it keeps, its own driver, and no other engine",
		},
		"hongbao/store/storetest": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/hub", "hongbao/store/loopback", "pgregory.net/rapid"},
			why: "the contracts are tested without knowing which engine keeps them",
		},
		"hongbao/web": {
			may: []string{
				"hongbao/chat", "hongbao/redpacket", "hongbao/hub", "hongbao/web/wire",
				"github.com/go-chi/chi/v5", "github.com/golang-jwt/jwt/v5", "github.com/gorilla/websocket",
				"github.com/prometheus/client_golang/prometheus", "github.com/centrifugal/protocol",
			},
			mayNot: []string{"database/sql"},
			why:    "the door turns wire into domain and back; which engines are behind the services is none of its business",
		},
		"hongbao/web/client": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/web/wire", "github.com/centrifugal/centrifuge-go"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "it is what programs elsewhere import: the SDK, the payloads, and the arithmetic of the proof",
		},
		"hongbao/web/webtest": {
			may:    []string{"github.com/chromedp/chromedp", "github.com/chromedp/cdproto"},
			mayNot: []string{"database/sql"},
			why:    "a browser for tests knows pages, whoever's they are",
		},
		"hongbao/web/wire": {
			may:    []string{"github.com/centrifugal/protocol"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "payloads are plain types that clients in Go can use too",
		},
		"hongbao/cmd/hongbao": {
			may: []string{
				"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/crashpoint", "hongbao/hub", "hongbao/store", "hongbao/web", "hongbao/web/wire",
				"golang.org/x/sync/errgroup",
			},
			mayNot: []string{"database/sql"},
			why:    "the program wires; only store knows which engines there are",
		},
		"hongbao/cmd/hongbao-cluster": {
			may: []string{"hongbao/store/loopback"},
			why: "it runs the real program as people do, and sees no more of it than they",
		},
		"hongbao/cmd/hongbao-bench": {
			may: []string{
				"hongbao/cmd/hongbao-bench/flaws", "hongbao/cmd/hongbao-bench/load", "hongbao/cmd/hongbao-bench/measure", "hongbao/cmd/hongbao-bench/report", "hongbao/cmd/hongbao-bench/schemes",
				"hongbao/chat", "hongbao/redpacket",
				"hongbao/hub", "hongbao/store/loopback", "hongbao/store/pgstore", "hongbao/store/redisstore",
				"github.com/gorilla/websocket", "github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9",
			},
			mayNot: []string{"database/sql"},
			why:    "what is measured is named in one place; nobody else needs to know",
		},
		"hongbao/cmd/hongbao-bench/flaws": {
			may: []string{"hongbao/cmd/hongbao-bench/schemes", "github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9"},
			why: "the same is played with theirs and with ours, and it cannot tell who is who",
		},
		"hongbao/cmd/hongbao-bench/load": {
			may: []string{
				"hongbao/web", "hongbao/web/wire",
				"github.com/HdrHistogram/hdrhistogram-go", "github.com/gorilla/websocket", "golang.org/x/sync/errgroup",
			},
			why: "it knows the door, as any client does, and nothing behind it",
		},
		"hongbao/cmd/hongbao-bench/measure": {why: "rounds and medians are the same whatever is measured"},
		"hongbao/cmd/hongbao-bench/report":  {why: "a page shows whatever was measured, and knows no more of it than names and numbers"},
		"hongbao/cmd/hongbao-bench/schemes": {
			may: []string{"github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9"},
			why: "what others have published has nothing of ours in it",
		},
	}
}

func TestImportDirections(t *testing.T) {
	known := rooms()
	seen := map[string]bool{}
	for _, f := range productionFiles(t) {
		seen[f.pkg] = true
		r, ok := known[f.pkg]
		if !ok {
			t.Errorf("package %s is not in the table: say there what it may import, and why", f.pkg)
			continue
		}
		for _, imported := range f.imports {
			if reason := r.refuses(f.pkg, imported); reason != "" {
				t.Errorf("%s imports %s, which %s must not: %s", f.name, imported, f.pkg, reason)
			}
		}
	}
	for pkg := range known {
		if !seen[pkg] {
			t.Errorf("package %s is in the table, but not in the tree", pkg)
		}
	}
}

// refuses gives the reason why the import is wrong, or nothing.
func (r room) refuses(pkg, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	standard := !strings.Contains(first, ".") && first != "hongbao"
	switch {
	case imported == "testing" && pkg != "hongbao/store/storetest" && pkg != "hongbao/web/webtest":
		return "tests are no part of the program"
	case slices.Contains(r.mayNot, imported):
		return r.why
	case standard, slices.ContainsFunc(r.may, func(m string) bool { return within(imported, m) }):
		return ""
	}
	return r.why
}

// within tells whether the import is the allowed one, or a part of an allowed module. Packages of the
// house are allowed one by one.
func within(imported, allowed string) bool {
	return imported == allowed || !strings.HasPrefix(allowed, "hongbao/") && strings.HasPrefix(imported, allowed+"/")
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	comments := map[string]int{}
	for _, f := range productionFiles(t) {
		comments[f.pkg] += f.comment
	}
	for pkg, n := range comments {
		if n < 80 {
			t.Errorf("package %s has a package comment of %d characters: say what it owns and what must always hold", pkg, n)
		}
	}
}

// sourceFile is a Go file that is built into the program.
type sourceFile struct {
	name, pkg string
	imports   []string
	comment   int // length of its package comment
}

func productionFiles(t *testing.T) []sourceFile {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []sourceFile
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		files = append(files, newSourceFile(name, path.Join("hongbao", filepath.ToSlash(rel)), f))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found only %d files under %s", len(files), root)
	}
	return files
}

func newSourceFile(name, pkg string, f *ast.File) sourceFile {
	s := sourceFile{name: name, pkg: pkg, comment: len(f.Doc.Text())}
	for _, i := range f.Imports {
		if imported, err := strconv.Unquote(i.Path.Value); err == nil {
			s.imports = append(s.imports, imported)
		}
	}
	return s
}
