package growth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestGrows(t *testing.T) {
	for name, c := range map[string]struct {
		row  Row
		want bool
	}{
		"the same":                {Row{Small: Cost{Time: 10 * time.Millisecond, Pages: 100}, Big: Cost{Time: 10 * time.Millisecond, Pages: 100}}, false},
		"a level of a tree more":  {Row{Small: Cost{Time: 10 * time.Millisecond, Pages: 100}, Big: Cost{Time: 15 * time.Millisecond, Pages: 150}}, false},
		"more pages":              {Row{Small: Cost{Time: 10 * time.Millisecond, Pages: 100}, Big: Cost{Time: 10 * time.Millisecond, Pages: 151}}, true},
		"more time":               {Row{Small: Cost{Time: 10 * time.Millisecond, Pages: 0}, Big: Cost{Time: 21 * time.Millisecond, Pages: 0}}, true},
		"a bounded scan":          {Row{Scans: true, Small: Cost{Time: 10 * time.Millisecond, Pages: 100}, Big: Cost{Time: 30 * time.Millisecond, Pages: 300}}, false},
		"a scan without a bound":  {Row{Scans: true, Small: Cost{Pages: 100}, Big: Cost{Pages: 1001}}, true},
		"hardly anything of both": {Row{Small: Cost{Time: 100 * time.Microsecond, Pages: 3}, Big: Cost{Time: time.Millisecond, Pages: 20}}, false},
	} {
		if c.row.Grows() != c.want {
			t.Errorf("%s: grows %v", name, !c.want)
		}
	}
}

// TestRoundsUseEarlierAnswers plays a round against a server that answers each request with ids of its own.
func TestRoundsUseEarlierAnswers(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		_ = r.Write(body)
		asked = append(asked, body.String())
		_, _ = w.Write([]byte(`{"room":{"id":"the-room"},"packet":{"id":"the-packet"},"seq":77,"code":"the-code"}`))
	}))
	defer server.Close()
	pages := int64(0)
	side := Side{API: server.URL, Key: "the-key", Pages: func(context.Context) (map[string]int64, error) {
		pages++
		return map[string]int64{"much": 4 * pages, "little": pages}, nil
	}}
	rows, err := Compare(t.Context(), side, side, 3, func(int) {})
	if err != nil || len(rows) != len(steps) || len(asked) != 2*3*len(steps) {
		t.Fatalf("%d rows of %d steps, %d requests, %v", len(rows), len(steps), len(asked), err)
	}
	all := strings.Join(asked, "\n")
	for _, want := range []string{"Bearer the-key", "the-room", "the-packet", `"seq":77`, "the-code", "growth-2-"} {
		if !strings.Contains(all, want) {
			t.Errorf("no request has %s", want)
		}
	}
	if left := regexp.MustCompile(`\{[a-z]+\}`).FindString(all); left != "" {
		t.Errorf("nothing stands for %s", left)
	}
	for _, r := range rows {
		if r.Small.Pages != 5 || r.Big.Pages != 5 || r.Big.Statement != "much" {
			t.Errorf("%+v, want 5 pages, most by much", r)
		}
	}
}
