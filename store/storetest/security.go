package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/security"
)

// SecurityUnderTest is an engine with an empty database.
type SecurityUnderTest struct {
	security.Store
	// Exec runs a statement without parameters.
	Exec func(statement string) error
}

// TestSecurity runs the suite of security.Store. open is called once for each test.
func TestSecurity(t *testing.T, open func(t *testing.T) SecurityUnderTest) {
	for name, run := range map[string]func(t *testing.T, s SecurityUnderTest){
		"acts are added once, and listed newest first": actsAreAdded, "counts are added once": countsAreAdded,
		"acts are exported by a cursor": actsAreExported,
		"stored rows stay as they are":  securityRowsStay, "old counts are deleted": oldCountsAreDeleted,
		"old acts are deleted": oldActsAreDeleted,
	} {
		t.Run(name, func(t *testing.T) { run(t, open(t)) })
	}
}

func testAct(id string, at time.Time) security.Act {
	return security.Act{ID: id, At: at, Instance: "i", Actor: "root", Person: "Mei", Client: "192.0.2.7", Method: "credit", Request: `{"user":"ann","amount":5}`,
		RequestID: "r-1", Reason: "a refund"}
}

func actsAreAdded(t *testing.T, s SecurityUnderTest) {
	ctx := t.Context()
	first, second, third := testAct("c", lived.UTC()), testAct("a", lived.UTC().Add(time.Second)), testAct("b", lived.UTC().Add(2*time.Second))
	changed := first
	changed.Actor = "somebody else"
	for _, a := range []security.Act{first, third, second, first, changed} {
		noError(t, s.AddAct(ctx, a))
	}
	for limit, want := range map[int][]security.Act{10: {third, second, first}, 2: {third, second}} {
		if got, _, err := s.ActsBefore(ctx, "", limit); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("acts, at most %d: %v, %v; want %v", limit, got, err, want)
		}
	}
}

func actsAreExported(t *testing.T, s SecurityUnderTest) {
	ctx, at := t.Context(), lived.UTC()
	var want []security.Act
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		want = append(want, testAct(id, at.Add(time.Duration(len(want)/2)*time.Second))) // acts a and b have the same time, and so have c and d
		noError(t, s.AddAct(ctx, want[len(want)-1]))
	}
	var got []security.Act
	cursor := ""
	read := func(before time.Time) {
		t.Helper()
		for {
			acts, next, err := s.ActsAfter(ctx, cursor, before, 2)
			noError(t, err)
			if got, cursor = append(got, acts...), next; len(acts) < 2 {
				return
			}
		}
	}
	read(at.Add(time.Second))
	if !reflect.DeepEqual(got, want[:2]) {
		t.Errorf("acts before %v: %v, want %v", at.Add(time.Second), got, want[:2])
	}
	if read(at.Add(time.Hour)); !reflect.DeepEqual(got, want) {
		t.Errorf("acts %v, want %v", got, want)
	}
	slices.Reverse(want)
	var newest []security.Act
	for before := ""; ; {
		acts, next, err := s.ActsBefore(ctx, before, 2)
		noError(t, err)
		if newest, before = append(newest, acts...), next; len(acts) < 2 {
			break
		}
	}
	if !reflect.DeepEqual(newest, want) {
		t.Errorf("newest acts %v, want %v", newest, want)
	}
	if _, _, err := s.ActsBefore(ctx, "x", 2); !errors.Is(err, chat.ErrBadRequest) {
		t.Errorf("a text that is no cursor of the newest: %v", err)
	}
	if _, _, err := s.ActsAfter(ctx, "x", at, 2); !errors.Is(err, chat.ErrBadRequest) {
		t.Errorf("a text that is no cursor: %v", err)
	}
}

func testCounts(minute time.Time) (counts []security.Count) {
	for i, kind := range []string{"unauthorized", "not_admin"} {
		for _, origin := range []string{"192.0.2.7", "Others", "others"} {
			counts = append(counts, security.Count{Minute: minute, Instance: "i", Kind: kind, Origin: origin, N: int64(i + 1)})
		}
	}
	return counts
}

func countsAreAdded(t *testing.T, s SecurityUnderTest) {
	ctx, minute := t.Context(), lived.UTC().Truncate(time.Minute)
	counts := testCounts(minute)
	again := counts[0]
	again.N = 100
	for _, list := range [][]security.Count{counts, counts[:2], {again}} {
		noError(t, s.AddCounts(ctx, list))
	}
	got, err := s.Counts(ctx, 100)
	if err != nil || len(got) != len(counts) {
		t.Fatalf("counts %v, %v; want %d", got, err, len(counts))
	}
	if fmt.Sprint(got[3:]) != fmt.Sprint(counts[:3]) || fmt.Sprint(got[:3]) != fmt.Sprint(counts[3:]) {
		t.Errorf("counts %v, want %v", got, counts)
	}
	if got, err := s.Counts(ctx, 2); err != nil || len(got) != 2 {
		t.Errorf("counts, at most 2: %v, %v", got, err)
	}
}

func securityRowsStay(t *testing.T, s SecurityUnderTest) {
	ctx, now := t.Context(), time.Now().UTC().Truncate(time.Minute)
	noError(t, s.AddAct(ctx, testAct("a", now)))
	noError(t, s.AddCounts(ctx, testCounts(now)))
	for _, statement := range []string{
		`update admin_acts set actor = 'ann'`, `delete from admin_acts`, `update security_counts set count = 0`, `delete from security_counts`,
	} {
		if err := s.Exec(statement); err == nil {
			t.Errorf("%s: no error, want a refusal", statement)
		}
	}
	acts, _, err := s.ActsBefore(ctx, "", 10)
	if counts, err := s.Counts(ctx, 10); err != nil || len(counts) != 6 || counts[0].N == 0 {
		t.Errorf("counts %v, %v; want all", counts, err)
	}
	if err != nil || len(acts) != 1 || acts[0].Actor != "root" {
		t.Errorf("acts %v, %v; want one of root", acts, err)
	}
}

func oldCountsAreDeleted(t *testing.T, s SecurityUnderTest) {
	ctx, now := t.Context(), time.Now().UTC().Truncate(time.Minute)
	for _, age := range []time.Duration{0, 31 * 24 * time.Hour} {
		noError(t, s.AddCounts(ctx, testCounts(now.Add(-age))))
	}
	noError(t, s.DropCounts(ctx, now.Add(-30*24*time.Hour)))
	if counts, err := s.Counts(ctx, 100); err != nil || len(counts) != 6 || !counts[0].Minute.Equal(now) {
		t.Errorf("counts %v, %v; want those of now", counts, err)
	}
}

func oldActsAreDeleted(t *testing.T, s SecurityUnderTest) {
	ctx, now := t.Context(), time.Now().UTC()
	for i, days := range []int{0, 80, 91, 92, 93} {
		noError(t, s.AddAct(ctx, testAct(strconv.Itoa(i), now.AddDate(0, 0, -days))))
	}
	for _, want := range []int{3, 2} { // two of the three old ones go at once
		noError(t, s.DropActs(ctx, now.AddDate(0, 0, -90), 2))
		if acts, _, err := s.ActsBefore(ctx, "", 10); err != nil || len(acts) != want || acts[0].ID != "0" || acts[1].ID != "1" {
			t.Errorf("acts %v, %v; want the newest %d", acts, err, want)
		}
	}
	if err := s.DropActs(ctx, now.AddDate(0, 0, -70), 10); err == nil {
		t.Error("an act of 80 days ago can be deleted")
	}
}
