package main

import (
	"bytes"
	"strings"
	"testing"

	"hongbao/cmd/hongbao-bench/growth"
	"hongbao/store/enginetest"
)

// TestGrowth plays one round on two small databases of each engine. Every request must succeed and cost something.
func TestGrowth(t *testing.T) {
	enginetest.Nightly(t, "bench")
	enginetest.Need(t, "Postgres")
	enginetest.Need(t, "Redis")
	for name, embedded := range map[string]bool{"SQLite": true, "Postgres": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := growing{small: 0.0005, big: 0.001, rounds: 1, embedded: embedded, binary: builtHongbao(t)}
			rows, err := g.measure(t.Context(), t.Logf)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if r.Big.Time == 0 || !embedded && r.Small.Pages+r.Big.Pages == 0 && r.Name != "host: quarantine" {
					t.Errorf("%+v costs nothing", r) // the quarantine is an empty table
				}
			}
		})
	}
}

func TestPrintGrowth(t *testing.T) {
	var out bytes.Buffer
	err := printGrowth(&out, []growth.Row{
		{Name: "flat", Small: growth.Cost{Pages: 100}, Big: growth.Cost{Pages: 110}},
		{Name: "steep", Small: growth.Cost{Pages: 100}, Big: growth.Cost{Pages: 1000}},
	})
	if err == nil || !strings.Contains(err.Error(), "1 of 2 requests grow with the database: steep") {
		t.Errorf("%v", err)
	}
	if rows := strings.Split(strings.TrimSpace(out.String()), "\n"); len(rows) != 3 || strings.Contains(rows[1], "grows") || !strings.HasSuffix(strings.TrimSpace(rows[2]), "10.00  grows") {
		t.Errorf("printed\n%s", out.String())
	}
}
