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
		tests: "-run=TestStore/a_room_may_keep_texts ./store/sqlitestore",
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

// erasureMutants are faults in the erasure of users.
var erasureMutants = []mutant{
	{
		file: "store/tables/erasing.go",
		old: `	held, err := e.held(chat.HoldRoom, e.room)
	if err != nil {
		return err
	}
	if held {
`,
		new: `	held, err := e.held(chat.HoldRoom, e.room)
	if err != nil {
		return err
	}
	if held && e.seq > 0 {
`,
		tests: "-run=TestStore/a_legal_hold_stops_an_erasure ./store/sqlitestore",
		harm:  "an erasure takes a user out of a room under a legal hold",
	},
	{
		file:  "store/tables/erasing.go",
		old:   `	hash := chain.Sealed(o.Name, o.Entry.From.Name, o.Entry.From.Avatar)`,
		new:   `	hash := chain.Sealed(o.Text, o.Entry.From.Name, o.Entry.From.Avatar)`,
		tests: "-run=TestErasedAudit/clear ./store/sqlitestore",
		harm:  "the hash chains call entries of erased users forged",
	},
	{
		file:  "store/tables/erasing.go",
		old:   `set words = '', appeal = '', hash = $2 where about = $1 and words || appeal <> ''`,
		new:   `set words = words, hash = $2 where about = $1 and words = '-'`,
		tests: "-run=TestStore/an_erased_user_has_no_name_and_no_texts ./store/sqlitestore",
		harm:  "reports about an erased user still quote the user",
	},
	{
		file:  "store/tables/erasing.go",
		old:   `passphrase = case when status = 'open' then passphrase else '' end,`,
		new:   `passphrase = '',`,
		tests: "-run=TestErasedAudit/clear ./store/sqlitestore",
		harm:  "an open packet of an erased user loses its passphrase: nobody can grab it",
	},
	{
		file:  "store/tables/ownentries.go",
		old:   ` and sender = $4 order by seq`,
		new:   ` and $4 <> '' order by seq`,
		tests: "-run=TestStore/all_that_a_user_has_sent ./store/sqlitestore",
		harm:  "the export of a user has texts of others",
	},
}
