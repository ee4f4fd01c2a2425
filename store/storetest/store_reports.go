package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"hongbao/chat"
)

func reportTests() []storeTest {
	return []storeTest{
		{"a report is stored once for each key, and once while it is open", reportsOnce},
		{"reports are listed by state, and resolved once", reportsResolved},
		{"each side of a report is listed, and one appeal is decided", reportsAppealed},
	}
}

// newReport returns a report of ann about an entry of bob.
func (b *storeBench) newReport(key string, seq int64) chat.NewReport {
	at := time.UnixMilli(1_700_000_000_000 + int64(len(key))).UTC()
	return chat.NewReport{Key: key, Hash: []byte(key), Report: chat.Report{
		ID: "report-" + key, Kind: chat.ReportMessage, By: ann, About: bob, Room: "room", Seq: seq, Reason: "spam", Text: "look", At: at, State: chat.ReportOpen,
	}}
}

func reportsOnce(b *storeBench) {
	first := b.newReport("a", 1)
	if _, found, err := b.ReportByKey(b.ctx, first); err != nil || found {
		b.Errorf("before it is stored: %t, %v", found, err)
	}
	stored, dup, err := b.AddReport(b.ctx, first)
	b.must(err)
	want := first.Report
	want.ResolvedAt = time.UnixMilli(0).UTC()
	if dup || stored != want {
		b.Errorf("stored %+v, dup %t; want %+v", stored, dup, want)
	}
	again := first
	again.ID = "another"
	for what, n := range map[string]chat.NewReport{"the same key": again, "another key, about the same": func() chat.NewReport { n := b.newReport("bb", 1); return n }()} {
		if stored, dup, err = b.AddReport(b.ctx, n); err != nil || !dup || stored.ID != first.ID {
			b.Errorf("%s: %+v, %t, %v; want the first report", what, stored, dup, err)
		}
	}
	if stored, found, err := b.ReportByKey(b.ctx, again); err != nil || !found || stored.ID != first.ID {
		b.Errorf("by its key: %+v, %t, %v", stored, found, err)
	}
	again.Hash = []byte("other")
	if _, _, err := b.AddReport(b.ctx, again); !errors.Is(err, chat.ErrKeyReused) {
		b.Errorf("the key with another content: %v", err)
	}
	if _, _, err := b.ReportByKey(b.ctx, again); !errors.Is(err, chat.ErrKeyReused) {
		b.Errorf("the key with another content, looked up: %v", err)
	}
	others := b.newReport("a", 1) // keys of another user are apart
	others.By, others.ID = cyn, "of cyn"
	if stored, dup, err := b.AddReport(b.ctx, others); err != nil || dup || stored.ID != "of cyn" {
		b.Errorf("the same of another user: %+v, %t, %v", stored, dup, err)
	}
	var all sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		all.Go(func() {
			n := b.newReport("crowd"+string(rune('0'+i)), 9)
			stored, _, err := b.AddReport(b.ctx, n)
			if err != nil {
				b.Error(err)
			}
			ids[i] = stored.ID
		})
	}
	all.Wait()
	if len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 1 {
		b.Errorf("at the same time, about the same: %q, want one report", ids)
	}
}

func reportsResolved(b *storeBench) {
	for i, key := range []string{"a", "b", "c"} {
		_, _, err := b.AddReport(b.ctx, b.newReport(key, int64(i+1)))
		b.must(err)
	}
	list := func(q chat.ReportQuery, want ...string) {
		b.Helper()
		page, err := b.Reports(b.ctx, q)
		b.must(err)
		var ids []string
		for _, r := range page {
			ids = append(ids, r.ID)
		}
		if !slices.Equal(ids, want) {
			b.Errorf("%+v lists %q, want %q", q, ids, want)
		}
	}
	list(chat.ReportQuery{Limit: 2}, "report-a", "report-b")
	list(chat.ReportQuery{State: chat.ReportOpen, After: "report-a", Limit: 9}, "report-b", "report-c")
	at := time.UnixMilli(1_700_000_009_000).UTC()
	r := chat.Resolution{Report: "report-b", Outcome: "acted", Cause: "spam", Note: "muted", By: "key/shop", At: at}
	want, err := b.newReport("b", 2).With(r)
	b.must(err)
	for range 2 { // the second time changes nothing
		got, err := b.ResolveReport(b.ctx, r)
		b.must(err)
		if got != want {
			b.Errorf("resolved %+v, want %+v", got, want)
		}
		r.At, r.By = at.Add(time.Hour), "key/other"
	}
	r.Outcome = "dismissed"
	if _, err := b.ResolveReport(b.ctx, r); !errors.Is(err, chat.ErrConflict) {
		b.Errorf("resolved otherwise: %v", err)
	}
	r.Report = "none"
	if _, err := b.ResolveReport(b.ctx, r); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("an unknown report: %v", err)
	}
	if _, err := b.ReportByID(b.ctx, "none"); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("an unknown report: %v", err)
	}
	if got, err := b.ReportByID(b.ctx, "report-b"); err != nil || got != want {
		b.Errorf("read %+v, %v; want %+v", got, err, want)
	}
	list(chat.ReportQuery{State: chat.ReportOpen, Limit: 9}, "report-a", "report-c")
	list(chat.ReportQuery{State: chat.ReportResolved, Limit: 9}, "report-b")
	if stored, dup, err := b.AddReport(b.ctx, b.newReport("d", 2)); err != nil || dup || stored.ID != "report-d" {
		b.Errorf("again after it was resolved: %+v, %t, %v; want a new report", stored, dup, err)
	}
}

// reportsAppealed decides reports of ann about bob. Bob must learn only of those that were acted on. One appeal must be stored, and decided.
func reportsAppealed(b *storeBench) {
	at := time.UnixMilli(1_700_000_009_000).UTC()
	decide := func(key, outcome, cause string, appeal bool) error {
		_, err := b.ResolveReport(b.ctx, chat.Resolution{Report: "report-" + key, Outcome: outcome, Cause: cause, Appeal: appeal, By: "key/shop", At: at})
		return err
	}
	resolve := func(key, outcome, cause string) error { return decide(key, outcome, cause, false) }
	for i, key := range []string{"a", "b", "c", "d"} {
		_, _, err := b.AddReport(b.ctx, b.newReport(key, int64(i+1)))
		b.must(err)
	}
	b.must(resolve("a", "acted", "spam"))
	b.must(resolve("b", "dismissed", "no_breach"))
	b.must(resolve("c", "acted", "abuse"))
	list := func(q chat.OwnReports, want ...string) {
		b.Helper()
		page, err := b.OwnReports(b.ctx, q)
		b.must(err)
		ids := []string{}
		for _, r := range page {
			ids = append(ids, strings.TrimPrefix(r.ID, "report-"))
		}
		if !slices.Equal(ids, want) {
			b.Errorf("%+v lists %q, want %q", q, ids, want)
		}
	}
	list(chat.OwnReports{User: ann, Side: chat.Reporter, Limit: 9}, "d", "c", "b", "a")
	list(chat.OwnReports{User: ann, Side: chat.Reporter, Before: "report-c", Limit: 1}, "b")
	list(chat.OwnReports{User: bob, Side: chat.Reported, Limit: 9}, "c", "a")
	list(chat.OwnReports{User: bob, Side: chat.Reported, Before: "report-c", Limit: 9}, "a")
	list(chat.OwnReports{User: bob, Side: chat.Reporter, Limit: 9}, []string{}...)

	appeal := func(key, by, text string) (chat.Report, error) {
		return b.AppealReport(b.ctx, "report-"+key, chat.Appeal{By: by, Text: text, At: at.Add(time.Minute)})
	}
	first, err := appeal("a", bob, "it was a joke")
	if err != nil || first.State != chat.ReportAppealed || first.Outcome != "acted" || first.Appeal != (chat.Appeal{By: bob, Text: "it was a joke", At: at.Add(time.Minute)}) {
		b.Errorf("appealed: %+v, %v", first, err)
	}
	if again, err := appeal("a", bob, "it was a joke"); err != nil || again != first {
		b.Errorf("appealed again: %+v, %v; want %+v", again, err, first)
	}
	for _, c := range []struct {
		key, by string
		want    error
	}{
		{"a", bob, chat.ErrConflict}, // with another text
		{"b", bob, chat.ErrNotFound}, // dismissed: bob knows nothing of it
		{"c", ann, chat.ErrConflict}, // in ann's favour
		{"c", cyn, chat.ErrNotFound}, // a third user
		{"d", ann, chat.ErrConflict}, // still open
		{"missing", bob, chat.ErrNotFound},
	} {
		if r, err := appeal(c.key, c.by, "other words"); !errors.Is(err, c.want) {
			b.Errorf("%s appeals %s: %+v, %v; want %v", c.by, c.key, r, err, c.want)
		}
	}
	if _, err := appeal("b", ann, "look again"); err != nil {
		b.Errorf("the reporter appeals: %v", err)
	}
	open, err := b.Reports(b.ctx, chat.ReportQuery{State: chat.ReportAppealed, Limit: 9})
	if err != nil || len(open) != 2 {
		b.Errorf("waiting again: %+v, %v; want a and b", open, err)
	}
	b.must(resolve("a", "acted", "spam")) // a request of before, which comes again, decides no appeal
	if err := resolve("a", "dismissed", "no_evidence"); !errors.Is(err, chat.ErrConflict) {
		b.Errorf("decided without a look at the appeal: %v, want %v", err, chat.ErrConflict)
	}
	if err := decide("c", "acted", "abuse", true); !errors.Is(err, chat.ErrConflict) {
		b.Errorf("an appeal that nobody has made: %v, want %v", err, chat.ErrConflict)
	}
	if again, err := b.ReportByID(b.ctx, "report-a"); err != nil || again.State != chat.ReportAppealed {
		b.Errorf("meanwhile %+v, %v, want that it is appealed", again, err)
	}
	b.must(decide("a", "dismissed", "no_evidence", true))
	b.must(decide("a", "dismissed", "no_evidence", true)) // again
	b.must(decide("b", "acted", "spam", true))
	list(chat.OwnReports{User: bob, Side: chat.Reported, Limit: 9}, "c", "b", "a") // the appeal has succeeded, and bob still sees it
	for key, may := range map[string]bool{"a": false, "b": false, "c": true} {     // only c has had no appeal
		if r, err := b.ReportByID(b.ctx, "report-"+key); err != nil || (r.MayAppeal(ann) || r.MayAppeal(bob)) != may {
			b.Errorf("%+v, %v: want that one side may appeal: %t", r, err, may)
		}
	}
	for _, c := range []struct{ key, by string }{{"a", ann}, {"b", bob}} {
		if _, err := appeal(c.key, c.by, "once more"); !errors.Is(err, chat.ErrConflict) {
			b.Errorf("a second appeal about %s: %v, want %v", c.key, err, chat.ErrConflict)
		}
	}
	if err := resolve("a", "acted", "spam"); !errors.Is(err, chat.ErrConflict) {
		b.Errorf("decided a third time: %v, want %v", err, chat.ErrConflict)
	}
}
