package main

// drawMutants are faults in draws.
var drawMutants = []mutant{
	{
		file:  "store/tables/draws.go",
		old:   `d.drawnAt == 0 && d.now < d.cutoff`,
		new:   `d.drawnAt == 0`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "users enter a draw after its window",
	},
	{
		file:  "store/tables/draws.go",
		old:   `case r.Why == redpacket.CloseDue && !late && draw.drawnAt == 0,`,
		new:   `case false,`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "a draw is drawn before its window has ended",
	},
	{
		file:  "store/tables/draws.go",
		old:   `(draw.participants > 0 || late && draw.drawnAt == 0)`,
		new:   `(late && draw.drawnAt == 0)`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "a sender cancels a draw when the participants are not the wanted ones",
	},
	{
		file:  "store/tables/draws.go",
		old:   `if draw.drawnAt == 0 {`,
		new:   `if true {`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "each instance that draws writes another end of entering",
	},
	{
		file:  "store/tables/draws.go",
		old:   `Parts: p.Parts(len(leaves))}`,
		new:   `}`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "a total that is to be shared is refunded in part",
	},
	{
		file:  "store/tables/draws.go",
		old:   `before || u.Refused {`,
		new:   `before {`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "users enter that may not",
	},
	{
		file: "store/tables/draws.go",
		old: `	e.Participants += len(rows)
`,
		new: `	e.Participants++
`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "a draw counts fewer participants than it has",
	},
	{
		file:  "store/sqlitestore/send.go",
		old:   `err == nil && !p.IsDraw() {`,
		new:   `err == nil {`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "winners of a draw that is cut anew are paid other amounts",
	},
	{
		file:  "store/audit/draws.go",
		old:   `if d.root != hex.EncodeToString(root[:]) {`,
		new:   `if false {`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "a participant is left out of a draw afterwards, and the audit finds no difference",
	},
	{
		file:  "store/audit/draws.go",
		old:   `share >= 0 && share != place {`,
		new:   `share >= 0 && share < 0 {`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "a share of a draw goes to another participant, and the audit finds no difference",
	},
	{
		file:  "redpacket/draw.go",
		old:   `grants = append(grants, Grant{User: d.Participants[i].User, Share: share})`,
		new:   `grants = append(grants, Grant{User: d.Participants[share].User, Share: share + 0*i})`,
		tests: "-run=^TestDraw$ ./redpacket",
		harm:  "the participants win whose leaves are lowest, not those that are drawn",
	},
	{
		file: "redpacket/draw.go",
		old: `	case entered:
`,
		new: `	case entered && deny == nil:
`,
		tests: "-run=^TestDrawWhoLeavesStaysIn$ ./redpacket",
		harm:  "a user that has entered and left the room hears nothing of the draw",
	},
	{
		file: "redpacket/draw.go",
		old: `		s.closeSoon(k.packet.Ref)
			time.AfterFunc(drawAgain, try)`,
		new:   `		s.closeSoon(k.packet.Ref)`,
		tests: "-run=^TestDraw$ ./redpacket",
		harm:  "a draw whose first try comes too early waits for the backstop",
	},
	{
		file: "redpacket/flow.go",
		old: `	if i.IsDraw() {
		return nil
	}
`,
		new:   ``,
		tests: "-run=^TestDraw$ ./redpacket",
		harm:  "draws are loaded into the Pool, which then grants their shares",
	},
	{
		file:  "redpacket/service.go",
		old:   `known != nil && !c.IsDraw() {`,
		new:   `known != nil {`,
		tests: "-run=^TestDraw$ ./redpacket",
		harm:  "winners of a draw are told one by one, before its end",
	},
}
