package main

import (
	"fmt"
	"slices"
	"strings"
)

// mutant is one small change to the program that tests must notice.
type mutant struct {
	file  string // from the root of the repository
	old   string // occurs in the file exactly once
	new   string // takes the place of old
	tests string // arguments of go test, separated by spaces: the tests that must fail
	harm  string // what the change would do to users or operators
}

// table returns all mutants.
func table() []mutant {
	return slices.Concat(packetMutants, drawMutants, rainMutants, earlyMutants, personMutants, poolMutants, secretMutants, sqliteMutants, postgresMutants, hubMutants, authMutants, sessionMutants, eventMutants, hostMutants, archiveMutants, retentionMutants, erasureMutants, ruleMutants)
}

// apply returns the text of the file with the change, and the line at which the change begins.
func (m mutant) apply(text string) (changed string, line int, err error) {
	if n := strings.Count(text, m.old); n != 1 {
		return "", 0, fmt.Errorf("%s contains %q %d times, want once: the table of mutants is out of date", m.file, m.old, n)
	}
	before, after, _ := strings.Cut(text, m.old)
	return before + m.new + after, 1 + strings.Count(before, "\n"), nil
}
