package main

// earlyMutants are faults in packets that open later.
var earlyMutants = []mutant{
	{
		file:  "store/memstore/pool.go",
		old:   `case now.Before(im.opensAt):`,
		new:   `case false:`,
		tests: "-run=^TestPool$ ./store/memstore",
		harm:  "a packet is grabbed before it opens",
	},
	{
		file:  "store/redisstore/internal/pool/grab.lua",
		old:   `opens and now < opens * 1000`,
		new:   `nil`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "a packet is grabbed before it opens",
	},
	{
		file:  "store/redisstore/internal/pool/close.lua",
		old:   `if string.sub(status, 1, 5) == 'early' then`,
		new:   `if false then`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "a packet that has not opened cannot be cancelled",
	},
	{
		file:  "store/redisstore/internal/pool/load.lua",
		old:   `local open = status == 'open' or string.sub(status, 1, 5) == 'early'`,
		new:   `local open = status == 'open'`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "a packet that has not opened is due at once",
	},
	{
		file:  "store/tables/draws.go",
		old:   `d.drawnAt == 0 && !d.early()`,
		new:   `d.drawnAt == 0`,
		tests: "-run=^TestLedger/draw ./store/sqlitestore",
		harm:  "users enter a draw before it opens",
	},
	{
		file:  "store/tables/details.go",
		old:   `			i.OpensAt = openingOf(opens)`,
		new:   `			_ = openingOf(opens)`,
		tests: "-run=^TestPacketOpensLater$ ./redpacket",
		harm:  "a pool that has lost a packet opens it at once",
	},
	{
		file:  "redpacket/send.go",
		old:   `		opens = r.OpensAt`,
		new:   `		_ = r.OpensAt`,
		tests: "-run=^TestPacketOpensLater$ ./redpacket",
		harm:  "a packet ends before it opens",
	},
	{
		file:  "redpacket/send.go",
		old:   `		method += " that opens at " + strconv.FormatInt(r.OpensAt.UnixMilli(), 10)`,
		new:   `		method += " that opens later"`,
		tests: "-run=^TestOpeningRequests$ ./redpacket",
		harm:  "a request for another time is answered with an earlier packet",
	},
	{
		file:  "redpacket/grab.go",
		old:   `case p.Passphrase != "" && s.o.Now().Before(p.OpensAt):`,
		new:   `case false:`,
		tests: "-run=^TestPassphraseIsNotTriedBeforeThePacketOpens$ ./redpacket",
		harm:  "a user that comes too early has no tries left when the packet opens",
	},
	{
		file:  "redpacket/draw.go",
		old:   `	case e.Early && standing.In:`,
		new:   `	case false:`,
		tests: "-run=^TestDrawOpensLater$ ./redpacket",
		harm:  "a user that comes before a draw opens is told that it is over",
	},
	{
		file:  "store/audit/early.go",
		old:   `p.opens_at > 0 and c.at < p.opens_at - 10000`,
		new:   `p.opens_at > 0 and false`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "the audit misses a share that was claimed before its packet opened",
	},
	{
		file:  "store/audit/early.go",
		old:   `p.opens_at > 0 and n.at < p.opens_at`,
		new:   `p.opens_at > 0 and false`,
		tests: "-run=^TestAudit$ ./store/sqlitestore",
		harm:  "the audit misses a participant that entered a draw before it opened",
	},
}
