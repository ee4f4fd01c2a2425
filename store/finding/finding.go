// Package finding defines what hongbao doctor prints: the result of one check of the configuration or of an engine.
//
// It must always hold: a finding that is not OK says what to change, and no finding contains a secret.
package finding

import (
	"fmt"
	"slices"
	"time"
)

// State says how bad a finding is.
type State string

// The states.
const (
	OK   State = "ok"
	Warn State = "warn" // hongbao runs, but something is not as safe or as fast as it should be
	Fail State = "fail" // hongbao does not start, or money and messages are not safe
)

// Finding is the result of one check.
type Finding struct {
	State State  `json:"state"`
	Part  string `json:"part"` // what was checked, such as postgres
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // what to change; empty if the state is OK
}

// List collects findings about one part.
type List struct {
	Part string
	All  []Finding
}

// OK adds that something is right.
func (l *List) OK(text string) { l.All = append(l.All, Finding{OK, l.Part, text, ""}) }

// Warn adds what should be changed.
func (l *List) Warn(text, do string) { l.All = append(l.All, Finding{Warn, l.Part, text, do}) }

// Fail adds what must be changed.
func (l *List) Fail(text, do string) { l.All = append(l.All, Finding{Fail, l.Part, text, do}) }

// Clock adds how far the clock of an engine is ahead of the clock here.
func (l *List) Clock(name string, ahead, uncertainty time.Duration) {
	certain := max(0, ahead.Abs()-uncertainty)
	text := fmt.Sprintf("the clock of %s is %v ahead of the clock here", name, ahead.Round(time.Millisecond))
	const do = "synchronise both machines by NTP"
	switch {
	case certain > clockBound:
		l.Fail(text, do)
	case certain > clockWarning:
		l.Warn(text, do)
	default:
		l.OK(text)
	}
}

// These are the bounds of package redpacket: beyond clockBound a server does not start.
const (
	clockWarning = 500 * time.Millisecond
	clockBound   = 5 * time.Second
)

// Failed reports whether the state of any finding is Fail.
func Failed(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.State == Fail })
}
