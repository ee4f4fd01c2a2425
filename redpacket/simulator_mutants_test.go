package redpacket

import "testing"

// simMutant is a set of rules of the protocol that the simulation breaks on purpose.
type simMutant uint

const (
	simLoadOverwrites   simMutant = 1 << iota // Load drops grants that SQL does not have yet
	simLoadReopens                            // Load takes the status from SQL alone
	simCloseForgets                           // the close script returns no grants
	simMissingIsEmpty                         // the close script treats a missing image as a packet without grabs
	simRetireDeletes                          // the image of a closed packet is dropped at once
	simStoredShareLast                        // reasons to refuse are checked before the stored share
	simNoBackstop                             // SQL is never asked for overdue packets
	simNoUniqueKeys                           // SQL accepts any claim of an open packet
	simStatusOutside                          // Settle reads the packet's status before its transaction begins
	simDueDropped                             // the close script removes the packet from the due index
	simNoRecovery                             // the outbox is never read
	simEndNotLoaded                           // a packet that SQL has closed is only retired, not loaded
	simClosesEarly                            // the close script closes any packet, due or not
	simDeletedWaits                           // the close script refuses a packet of a deleted room that is not due
	simDeletedNotListed                       // SQL is never asked for packets of deleted rooms
	simOpensAtOnce                            // grabs are granted before the packet opens
	simHoldLost                               // an image from SQL does not say for whom shares are held
	simPaysUnbound                            // SQL pays users to whom no person is bound
	simBindsAny                               // SQL binds a person again, to another user
	simEntersUnlocked                         // an entry of a wave is checked before its transaction begins
	simWavesForget                            // a wave is drawn as if nobody had won in the earlier ones
	simLoadedFirst                            // breaks no rule: the instance of the sender lives until the Pool has the packet
)

// simRule is one rule of the protocol, with the harm that is done without it.
type simRule struct {
	without string // the rule, in words
	mutant  simMutant
	beside  simMutant // further rules to break, which does no harm by itself but shows the harm of this one
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
		{"closed packet not loaded again", simEndNotLoaded, 0, "everything", simForgotten},
		{"stored share answered last", simStoredShareLast, 0, "no-faults", simAnsweredNo},
		{"closed before its time", simClosesEarly, 0, "everything", simEarly},
		{"packets of a deleted room wait for their deadline", simDeletedWaits, 0, "no-faults", simHeld},
		{"packets of deleted rooms are not looked for", simDeletedNotListed, 0, "crashes", simHeld},
		{"no backstop", simNoBackstop, 0, "crashes", simStuck},
		{"due date dropped on close", simDueDropped, simNoBackstop | simLoadedFirst, "crashes", simStuck},
		{"no recovery", simNoRecovery, 0, "crashes", simUnpaid},
		{"opens before its time", simOpensAtOnce, 0, "no-faults", simTooSoon},
		{"holds are not loaded", simHoldLost, 0, "holds", simStolen},
		{"unbound users are paid", simPaysUnbound, 0, "persons", simTwice},
		{"a person is bound twice", simBindsAny, 0, "persons", simTwice},
		{"entries are checked outside the transaction", simEntersUnlocked, 0, "rains", simDropped},
		{"waves forget the earlier ones", simWavesForget, 0, "rains", simAnsweredLost},
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

// TestSimulatorMutants breaks each rule in turn. The harm that the rule prevents must occur, in a class of schedules
// in which TestSimulator finds none.
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
