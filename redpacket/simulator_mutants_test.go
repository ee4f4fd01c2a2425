package redpacket

import "testing"

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
	simEndUntold                             // a packet that SQL has closed is only retired, not loaded
	simClosesEarly                           // the close script closes whatever is asked for
	simLoadedFirst                           // no rule: the sender's instance lives until the Pool knows the packet
)

// simRule is one of the rules, and the harm that it prevents.
type simRule struct {
	without string // the rule
	mutant  simMutant
	beside  simMutant // taken away too, doing no harm by itself
	class   string
	spoils  simFigure
}

func simRules() []simRule {
	return []simRule{
		{"LOAD overwrites", simLoadOverwrites, 0, "joins", simRefused},
		{"LOAD reopens", simLoadReopens, 0, "joins", simRefused},
		{"close without the granted set", simCloseForgets, 0, "no-faults", simRefused},
		{"missing means nothing granted", simMissingIsEmpty, 0, "failovers", simRefused},
		{"image deleted after close", simRetireDeletes, 0, "joins", simRefused},
		{"closed packet not loaded again", simEndUntold, 0, "everything", simForgotten},
		{"stored share answered last", simStoredShareLast, 0, "no-faults", simToldNo},
		{"closed before its time", simClosesEarly, 0, "everything", simEarly},
		{"no backstop", simNoBackstop, 0, "crashes", simStuck},
		{"due date dropped on close", simDueDropped, simNoBackstop | simLoadedFirst, "crashes", simStuck},
		{"no recovery", simNoRecovery, 0, "crashes", simUnpaid},
		{"no unique keys", simNoUniqueKeys, 0, "no-faults", simOverpaid},
		{"status read outside the transaction", simStatusOutside, 0, "everything", simOverpaid},
	}
}

func simRuleNamed(t *testing.T, without string) simRule {
	t.Helper()
	for _, r := range simRules() {
		if r.without == without {
			return r
		}
	}
	t.Fatalf("no rule %q", without)
	return simRule{}
}

// TestSimulatorMutants takes each rule away and wants to see the harm that it prevents, in a class where
// TestSimulator finds none.
func TestSimulatorMutants(t *testing.T) {
	const block, enough = 100, 20_000
	for _, r := range simRules() {
		t.Run(r.without, func(t *testing.T) {
			class := simClassNamed(t, r.class)
			var harm, schedules int
			for harm == 0 && schedules < enough {
				if r.beside != 0 && simulate(class, r.beside, schedules, block).total[r.spoils] != 0 {
					t.Fatalf("%s is not 0 with the rule either", r.spoils)
				}
				harm = simulate(class, r.mutant|r.beside, schedules, block).total[r.spoils]
				schedules += block
			}
			t.Logf("%-36s %-10s %-9s %3d in %d schedules", r.without, r.class, r.spoils, harm, schedules)
			if harm == 0 {
				t.Errorf("the rule may go: %s stays 0", r.spoils)
			}
		})
	}
}
