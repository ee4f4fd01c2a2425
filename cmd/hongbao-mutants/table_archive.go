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
