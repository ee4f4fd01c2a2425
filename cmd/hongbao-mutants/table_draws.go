package main

// drawMutants are faults in draws.
var drawMutants = []mutant{
	{
		file:  "store/tables/draws.go",
		old:   `d.drawnAt == 0 && !d.early() && d.now < d.cutoff`,
		new:   `d.drawnAt == 0 && !d.early()`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "users enter a draw after its window",
	},
	{
		file:  "store/tables/draws.go",
		old:   `r.Why == redpacket.CloseDue && !late || `,
		new:   ``,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "a draw is drawn before its window has ended",
	},
	{
		file:  "store/tables/draws.go",
		old:   `(late || draw.participants > 0)`,
		new:   `late`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "a sender cancels a draw when the participants are not the wanted ones",
	},
	{
		file: "store/tables/draws.go",
		old: `	if late {
`,
		new: `	if true {
`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "who deletes a room is the only one in a draw, and gets all",
	},
	{
		file:  "store/tables/draws.go",
		old:   `drawn.Parts = p.Parts(len(leaves))`,
		new:   `_ = p`,
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
		new:   `if d.root != hex.EncodeToString(root[:]) && !d.early {`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "a participant is left out of a draw afterwards, and the audit finds no difference",
	},
	{
		file:  "store/audit/draws.go",
		old:   `case share >= 0 && share != place:`,
		new:   `case false:`,
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
	{
		file:  "redpacket/together.go",
		old:   `stopping || c.ctx.Err() != nil {`,
		new:   `stopping {`,
		tests: "-run=^TestWhoHasGoneIsNotEntered$ ./redpacket",
		harm:  "after a stall, users wait behind those that have gone, and come too late",
	},
	{
		file:  "redpacket/draw.go",
		old:   `k.drawing.CompareAndSwap(false, true) && !s`,
		new:   `!s`,
		tests: "-run=^TestSlowDrawTakesOneSlot$ ./redpacket",
		harm:  "a slow draw keeps others of its partition from being drawn",
	},
	{
		file:  "redpacket/send.go",
		old:   `now.Add(s.clocks.ledgerAhead())`,
		new:   `now`,
		tests: "-run=^TestWindowIsOfTheLedgersClock$ ./redpacket",
		harm:  "a short window ends before it begins, if the database's clock is ahead",
	},
	{
		file:  "redpacket/document.go",
		old:   `	if b.Draw.Parts > 0 {`,
		new:   `	if p.Rest == RestShare {`,
		tests: "-run=^TestDrawWithoutParticipants$ ./redpacket",
		harm:  "the proof of an honest draw does not hold",
	},
	{
		file:  "store/audit/draws.go",
		old:   `case share < 0 && place < shares &&`,
		new:   `case false && place < shares &&`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "a winner of a draw was never paid, and the audit finds no difference",
	},
	{
		file:  "store/tables/settings.go",
		old:   `p.window_s = 0 or `,
		new:   `true or `,
		tests: "-run=^TestLedger/epoch ./store/sqlitestore",
		harm:  "after lost commits, users whose entries are lost cannot enter again",
	},
}
