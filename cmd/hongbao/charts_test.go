package main

import (
	"log/slog"
	"testing"
	"time"

	"hongbao/migrations"
	"hongbao/store"
	"hongbao/store/chart"
)

// TestChartsAreRead reads steps of the last day, with what is known of each.
func TestChartsAreRead(t *testing.T) {
	books, err := store.MakeBooks(t.Context(), store.Config{DataDir: t.TempDir()}, migrations.Auto, slog.New(slog.DiscardHandler))
	noError(t, err)
	defer func() { noError(t, books.Close()) }()
	at := time.Now().Truncate(chart.Step).Add(-chart.Step)
	for i, f := range []chart.Figures{
		{Counts: chart.Counts{Won: 3}, Sockets: 7, P99: 5 * time.Millisecond, Open: 2, Escrow: 900}, {Open: chart.Unknown, Escrow: chart.Unknown}, {},
	} {
		noError(t, books.Charts.AddFigures(t.Context(), "one", at.Add(-time.Duration(i)*12*time.Hour), f, time.Time{}))
	}
	day, err := storedCharts{books.Charts}.read(t.Context())
	noError(t, err)
	if day.StepS != 300 || len(day.Points) != 2 || day.From > day.Points[0].At || day.From < at.Add(-chart.Keep).UnixMilli() {
		t.Fatalf("the day: %+v, want the two steps of the last 24 hours", day)
	}
	unknown, known := day.Points[0], day.Points[1]
	if unknown.Open != nil || unknown.Escrow != nil || *known.Open != 2 || *known.Escrow != 900 || known.GrabP99US != 5000 || known.Won != 3 || known.Sockets != 7 || known.At != at.UnixMilli() {
		t.Errorf("points %+v", day.Points)
	}
}
