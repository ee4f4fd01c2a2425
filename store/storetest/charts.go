package storetest

import (
	"reflect"
	"testing"
	"time"

	"hongbao/store/chart"
)

// TestCharts tests a chart.Store, which must be empty: figures of two instances are added up, and old ones go.
func TestCharts(t *testing.T, s chart.Store) {
	ctx, at := t.Context(), lived.UTC().Truncate(chart.Step)
	add := func(instance string, at time.Time, f chart.Figures) {
		t.Helper()
		noError(t, s.AddFigures(ctx, instance, at, f, at.Add(-chart.Keep)))
	}
	one := chart.Figures{Counts: chart.Counts{Delivered: 1, Won: 2, Missed: 3, Failed: 4}, Sockets: 5, P99: 6 * time.Millisecond, Open: 7, Escrow: 8}
	other := chart.Figures{Counts: chart.Counts{Delivered: 10, Won: 20, Missed: 30, Failed: 40}, Sockets: 50, Open: chart.Unknown, Escrow: chart.Unknown}
	add("a", at, one)
	add("b", at, other)
	add("b", at, one) // once more: nothing changes
	add("b", at.Add(chart.Step), other)
	points := func(from time.Time) []chart.Point {
		t.Helper()
		found, err := s.Points(ctx, from)
		noError(t, err)
		return found
	}
	both := chart.Figures{Counts: chart.Counts{Delivered: 11, Won: 22, Missed: 33, Failed: 44}, Sockets: 55, P99: 6 * time.Millisecond, Open: 7, Escrow: 8}
	want := []chart.Point{{Figures: both, At: at, Instances: 2}, {Figures: other, At: at.Add(chart.Step), Instances: 1}}
	if got := points(at); !reflect.DeepEqual(got, want) {
		t.Errorf("points %+v, want %+v", got, want)
	}
	add("a", at.Add(chart.Step+chart.Keep), one)
	if got := points(at); len(got) != 2 || !reflect.DeepEqual(got[0], want[1]) {
		t.Errorf("a day later there are %+v, want the last two steps", got)
	}
}
