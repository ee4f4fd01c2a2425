package migrations

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed grants.sql
var grants string

// Right is something that an instance must be allowed to do with a table of Postgres.
type Right struct {
	Verb   string // insert, update or delete
	Table  string
	Column string // empty: each column
}

var (
	grantLine = regexp.MustCompile(`(?m)^grant (.+) on (.+) to hongbao;`)
	grantVerb = regexp.MustCompile(`(insert|update|delete)(?: \((.+?)\))?(?:, |$)`)
)

// Rights returns what grants.sql allows the role of the instances, but for the right to select, which it has on every table.
func Rights() (all []Right) {
	for _, grant := range grantLine.FindAllStringSubmatch(grants, -1) {
		for _, verb := range grantVerb.FindAllStringSubmatch(grant[1], -1) {
			for table := range strings.SplitSeq(grant[2], ", ") {
				for column := range strings.SplitSeq(verb[2], ", ") {
					all = append(all, Right{verb[1], table, column})
				}
			}
		}
	}
	return all
}
