package main

// rainMutants are faults in rains.
var rainMutants = []mutant{
	{
		file:  "store/tables/rains.go",
		old:   `now.Before(d.rain.opens[i].Add(redpacket.WaveWindow))`,
		new:   `true`,
		tests: "-run=^TestLedger/rain/waves ./store/sqlitestore",
		harm:  "users enter a wave after its end by the database's clock",
	},
	{
		file:  "store/tables/rains.go",
		old:   `i < len(d.rain.opens) && !d.rain.opens[i].After(now)`,
		new:   `i < len(d.rain.opens)`,
		tests: "-run=^TestLedger/rain ./store/sqlitestore",
		harm:  "users enter a wave before it has come",
	},
	{
		file: "store/tables/rains.go",
		old: `		if end.After(now) {
`,
		new: `		if d.rain.opens[due].After(now) {
`,
		tests: "-run=^TestLedger/rain ./store/sqlitestore",
		harm:  "a wave is drawn while users still enter it",
	},
	{
		file:  "store/tables/draws.go",
		old:   `(late || draw.participants > 0)`,
		new:   `(late || draw.participants > 0 && len(draw.rain.opens) == 0)`,
		tests: "-run=^TestLedger/rain ./store/sqlitestore",
		harm:  "a sender cancels a rain whose wave users have entered",
	},
	{
		file:  "store/tables/draws.go",
		old:   `where packet_id = $1 /*! and bucket = bucket_of($1) */ and wave = $3 and user_id `,
		new:   `where packet_id = $1 /*! and bucket = bucket_of($1) */ and wave < $3 + 1 and user_id `,
		tests: "-run=^TestLedger/rain ./store/sqlitestore",
		harm:  "a user that has entered one wave can enter no other",
	},
	{
		file: "redpacket/rain.go",
		old: `			round.Won(user)
`,
		new: `			_ = user
`,
		tests: "-run=^TestLedger/rain ./store/sqlitestore",
		harm:  "a wave gives shares that an earlier one has given, to users that have won as often as they may",
	},
	{
		file:  "redpacket/proof/rain.go",
		old:   `o.wins[name] < o.most {`,
		new:   `o.most > 0 && name != "" {`,
		tests: "-run=^TestLedger/rain ./store/sqlitestore",
		harm:  "a user wins in more waves than max_wins",
	},
	{
		file:  "redpacket/proof/rain.go",
		old:   `free := wave*o.perWave - o.next`,
		new:   `free := o.perWave`,
		tests: "-run=^TestLedger/rain ./store/sqlitestore",
		harm:  "shares that a wave leaves do not come up with the next one",
	},
	{
		file:  "redpacket/rain.go",
		old:   `	plan.Drawn = max(0, plan.Drawn-1)`,
		new:   `	plan.Drawn += 0`,
		tests: "-run=^TestResultOfAWaveIsToldAfterACrash$ ./redpacket",
		harm:  "an instance dies when it has drawn a wave, and nobody is paid or hears of it before the next one",
	},
	{
		file:  "store/audit/rains.go",
		old:   `moment.Before(opens) || !moment.Before(opens.Add(redpacket.WaveWindow))`,
		new:   `moment.IsZero()`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "a user enters a wave that is not open, and the audit finds no difference",
	},
	{
		file:  "store/audit/rains.go",
		old:   `case share >= 0 && (place < 0 || share != w.First+place):`,
		new:   `case false:`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "a share of a wave is paid to another user, and the audit finds no difference",
	},
	{
		file:  "redpacket/rain.go",
		old:   `for range rainsKept / rainsPage {`,
		new:   `for range 2 * rainsKept / rainsPage {`,
		tests: "-run=^TestFewRainsAreReadAtATime$ ./redpacket",
		harm:  "each instance reads all open rains every three seconds",
	},
	{
		file:  "store/tables/draws.go",
		old:   `if draw.rain.entered == e.Wave {`,
		new:   `if false {`,
		tests: "-run=^TestLedger$/^rain ./store/sqlitestore",
		harm:  "the number of participants of a wave starts at 0 with each transaction",
	},
}
