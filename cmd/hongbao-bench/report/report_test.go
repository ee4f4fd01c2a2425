package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"hongbao/cmd/hongbao-bench/report"
)

var update = flag.Bool("update", false, "rewrite the golden pages")

func written(t *testing.T, r report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, r := range map[string]report.Report{"comparison": comparison(), "empty": {Title: "Nothing was measured"}} {
		file := filepath.Join("testdata", name+".html")
		got := written(t, r)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from the page; if the change is intended, run: go test ./cmd/hongbao-bench/report -update", file)
		}
	}
}
