package main

// archiveMutants are faults in imports.
var archiveMutants = []mutant{
	{
		file: "store/tables/imports.go",
		old: `		if seqs[d.ID] != 0 {
			continue
		}
`,
		new:   ``,
		tests: "-run=^TestArchive ./store/sqlitestore",
		harm:  "two imports at once append a text twice, or fail",
	},
	{
		file:  "store/tables/imports.go",
		old:   `chain.EntryLeaf(rows[i].Entry, nil, 0, rows[i].seals)`,
		new:   `chain.EntryLeaf(rows[i].Entry, nil, 1, rows[i].seals)`,
		tests: "-run=^TestArchive ./store/sqlitestore",
		harm:  "the audit calls imported texts forged",
	},
	{
		file:  "store/tables/imports.go",
		old:   ` and deleted_at = 0`,
		new:   ``,
		tests: "-run=^TestArchive ./store/sqlitestore",
		harm:  "texts are added to a deleted room",
	},
}

// retentionMutants are faults in the removal of old texts.
var retentionMutants = []mutant{
	{
		file:  "store/tables/retention.go",
		old:   `if err != nil || since == nil || of.Held {`,
		new:   `if err != nil || since == nil {`,
		tests: "-run=TestStore/a_legal_hold_stops_the_retention ./store/sqlitestore",
		harm:  "texts go that a legal hold must keep",
	},
	{
		file:  "store/tables/retention.go",
		old:   `	hash := chain.Sealed(o.Text, string(o.Entry.Body))` + "\n",
		new:   `	hash := chain.Sealed(o.Name, string(o.Entry.Body))` + "\n",
		tests: "-run=TestRetiredAudit ./store/sqlitestore",
		harm:  "the hash chains call retired texts forged",
	},
	{
		file:  "store/tables/retention.go",
		old:   `	queueDropWords(r, &r.writes, r.Room, r.words)` + "\n",
		new:   ``,
		tests: "-run=TestStore/a_text_that_is_too_old_is_retired ./store/sqlitestore",
		harm:  "the words of retired texts stay in the index of the search",
	},
	{
		file:  "web/user/push/push.go",
		old:   `		p.hub.Notify(Notice{Erased: &Membership{Room: e.Room}}.encode())` + "\n",
		new:   ``,
		tests: "-run=TestResumeOverRetiredTexts ./web",
		harm:  "another instance gives a socket that resumes the texts that the retention has removed",
	},
}
