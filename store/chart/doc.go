// Package chart keeps a few figures of all instances for a day, for the charts of the console.
//
// It must always hold:
//
//   - An instance writes one row for each Step, when the step has ended. A row is never changed.
//   - Rows go when they are older than Keep. So the table is a ring: 288 rows for each instance.
//   - A row that cannot be written is missing, and nothing waits for it.
package chart

import (
	"context"
	"time"
)

// The charts show Keep in steps of Step.
const (
	Step = 5 * time.Minute
	Keep = 24 * time.Hour
)

// Unknown stands for a figure of the books that the instance has not sampled lately.
const Unknown = -1

// Counts are what an instance has done: since its start, or in a step.
type Counts struct {
	Delivered int64 // pushes, counted once for each socket
	Won       int64 // grabs that got a share
	Missed    int64 // grabs that came too late
	Failed    int64 // grabs that ended with an error
}

func (c Counts) since(before Counts) Counts {
	return Counts{c.Delivered - before.Delivered, c.Won - before.Won, c.Missed - before.Missed, c.Failed - before.Failed}
}

// Figures are those of a step, of one instance or of all.
type Figures struct {
	Counts

	Sockets int64         // open at the end of the step
	P99     time.Duration // 99 % of the grabs that won took at most as long, or 10 s and longer; 0: none did. Of several instances, the longest
	Open    int64         // open packets at the end of the step, or Unknown
	Escrow  int64         // money left in them, or Unknown
}

// Point is a step of all instances.
type Point struct {
	Figures

	At        time.Time // when the step began
	Instances int       // whose figures are in it
}

// Store is the SQL database.
type Store interface {
	// AddFigures adds the figures of an instance for the step that began at the given time, and deletes rows of steps that began before the other
	// time. Figures of the same step and instance stay as they are.
	AddFigures(ctx context.Context, instance string, at time.Time, f Figures, before time.Time) error
	// Points returns the steps that began at the given time or later, in their order.
	Points(ctx context.Context, from time.Time) ([]Point, error)
}
