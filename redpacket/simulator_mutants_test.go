package redpacket

import (
	"testing"
)

// simMutant is a set of rules taken away, in the engines or by leaving out a task.
type simMutant uint

const (
	simLoadOverwrites  simMutant = 1 << iota // LOAD forgets grants that SQL does not have yet
	simLoadReopens                           // LOAD takes the status from SQL alone
	simCloseForgets                          // the close script returns no grants
	simMissingIsEmpty                        // the close script takes a missing image for an ungrabbed packet
	simRetireDeletes                         // a closed packet's image goes at once
	simStoredShareLast                       // reasons to refuse are checked before the stored share
	simNoBackstop                            // nobody asks SQL what is overdue
	simNoUniqueKeys                          // SQL takes any claim of an open packet
	simStatusOutside                         // Settle reads the status before its transaction
	simDueDropped                            // the close script takes the packet out of the due index
	simNoRecovery                            // nobody looks into the outbox
	simLoadedFirst                           // no rule: the sender's instance lives until the Pool knows the packet
)

// TestSimulatorMutants takes each rule away and wants to see the harm that it prevents, in a class where the
// full rules do none.
func TestSimulatorMutants(t *testing.T) {
	for _, m := range []struct {
		name   string
		mutant simMutant
		beside simMutant // what is taken away too, and does no harm by itself
		class  string
		spoils simFigure
	}{
		{"LOAD overwrites", simLoadOverwrites, 0, "joins", simRefused},
		{"LOAD reopens", simLoadReopens, 0, "joins", simRefused},
		{"close without the granted set", simCloseForgets, 0, "no-faults", simRefused},
		{"missing means nothing granted", simMissingIsEmpty, 0, "failovers", simRefused},
		{"image deleted after close", simRetireDeletes, 0, "joins", simRefused},
		{"stored share answered last", simStoredShareLast, 0, "no-faults", simToldNo},
		{"no backstop", simNoBackstop, 0, "crashes", simStuck},
		{"no unique keys", simNoUniqueKeys, 0, "no-faults", simOverpaid},
		{"status read outside the transaction", simStatusOutside, 0, "everything", simOverpaid},
		{"due date dropped on close", simDueDropped, simNoBackstop | simLoadedFirst, "crashes", simStuck},
		{"no recovery", simNoRecovery, 0, "crashes", simLeft},
	} {
		t.Run(m.name, func(t *testing.T) {
			class := simClassNamed(t, m.class)
			const schedules = 4000
			if sound := simulate(class, m.beside, schedules).total[m.spoils]; sound != 0 {
				t.Errorf("%s: %s is %d before the rule is taken away", m.class, m.spoils, sound)
			}
			r := simulate(class, m.mutant|m.beside, schedules)
			t.Logf("%-36s %-10s %-8s %6d in %d schedules", m.name, m.class, m.spoils, r.total[m.spoils], schedules)
			if r.total[m.spoils] == 0 {
				t.Errorf("the rule %q may go: %s stays 0", m.name, m.spoils)
			}
		})
	}
}
