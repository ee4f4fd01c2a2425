package main

// poolMutants break the rules of the engines without SQL: memory and Redis.
var poolMutants = []mutant{
	{
		file:  "store/memstore/pool.go",
		old:   `if pt.outbox.held >= p.outboxCap {`,
		new:   `if pt.outbox.held > p.outboxCap {`,
		tests: "-run=Pool ./store/memstore",
		harm:  "the outbox holds more claims than its limit",
	},
	{
		file:  "store/memstore/pool.go",
		old:   `case reason == redpacket.CloseDue && !im.closed() && now.Before(im.deadline):`,
		new:   `case reason == redpacket.CloseDue && !im.closed() && !now.After(im.deadline):`,
		tests: "-run=Pool ./store/memstore",
		harm:  "a packet is not closed at its deadline",
	},
	{
		file:  "store/memstore/pool.go",
		old:   `case !now.Before(im.deadline):`,
		new:   `case now.After(im.deadline):`,
		tests: "-run=Pool ./store/memstore",
		harm:  "a share is granted at the deadline, when the close may have begun",
	},
	{
		file:  "store/memstore/pool.go",
		old:   `!has && !taken[share] &&`,
		new:   `!has &&`,
		tests: "-run=Pool ./store/memstore",
		harm:  "one share belongs to two users, and one of them is refused",
	},
	{
		file: "store/memstore/pool.go",
		old: `	if at.Before(im.at) {
		pt.reschedule(im, at)
	}`,
		new:   `	pt.reschedule(im, at)`,
		tests: "-run=Pool ./store/memstore",
		harm:  "a packet that is loaded again and again is never due",
	},
	{
		file:  "hub/hubtest/broker.go",
		old:   `if !e.lost && len(e.queue)`,
		new:   `if len(e.queue)`,
		tests: "-run=Suspect ./hub/hubtest",
		harm:  "a message arrives before the report of a loss that precedes it",
	},
	{
		file:  "store/redisstore/internal/pool/grab.lua",
		old:   `share + 1 < tonumber(single[2])`,
		new:   `share < tonumber(single[2])`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "the last share does not make the packet due",
	},
	{
		file:  "store/redisstore/internal/pool/grab.lua",
		old:   `if redis.call('INCRBY', KEYS[3], 1) <= cap then`,
		new:   `if redis.call('INCRBY', KEYS[3], 1) <= cap + 1 then`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "the outbox holds more claims than its limit",
	},
	{
		file:  "store/redisstore/internal/pool/grab.lua",
		old:   `now >= got[3] * 1000, tonumber(got[4]), 0`,
		new:   `now > got[3] * 1000 + 1000, tonumber(got[4]), 0`,
		tests: "-run=^TestPool ./store/redisstore/internal/pool",
		harm:  "a share is granted after the deadline, when the close may have begun",
	},
	{
		file: "store/redisstore/internal/pool/grab.lua",
		old: `    elseif closed then
      code = 3
    elseif early`,
		new:   `    elseif early`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "a closed packet grants shares, which are refunded at the same time",
	},
	{
		file:  "store/redisstore/internal/pool/load.lua",
		old:   `if not users[user] and not owner[share] and`,
		new:   `if not users[user] and`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "one share belongs to two users, and one of them is refused",
	},
	{
		file:  "store/redisstore/internal/pool/load.lua",
		old:   `if ended and open then`,
		new:   `if ended then`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "the reason why a packet is closed changes",
	},
	{
		file:  "store/redisstore/internal/pool/close.lua",
		old:   `tonumber(after) == (tonumber(spare) or 0)`,
		new:   `true`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "a sender cancels a packet although users have won shares of it",
	},
	{
		file:  "store/redisstore/internal/pool/close.lua",
		old:   `due(string.format('%.0f', now + 2000))`,
		new:   `due(string.format('%.0f', now))`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "every instance repeats a close that is still running",
	},
	{
		file:  "store/redisstore/internal/pool/ack.lua",
		old:   `string.format('%d', -gone)`,
		new:   `'0'`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "the count of unsettled claims only grows, until the Pool refuses all grabs",
	},
	{
		file:  "store/redisstore/internal/pool/unsettled.lua",
		old:   `if #found == 2 * most then`,
		new:   `if false then`,
		tests: "-run=^TestPool ./store/redisstore/internal/pool",
		harm:  "recovery never lists claims beyond the first page",
	},
	{
		file:  "store/redisstore/internal/pool/pool.go",
		old:   `ans.Last = ans.Decision == lastGranted`,
		new:   `ans.Last = false`,
		tests: "-run=^TestPool$ ./store/redisstore/internal/pool",
		harm:  "a packet whose last share is claimed is closed only two seconds later, by the sweep",
	},
	{
		file:  "store/redisstore/limiter.lua",
		old:   `if full > now + depth then`,
		new:   `if false then`,
		tests: "-run=Limiter ./store/redisstore",
		harm:  "after the clock of Redis was set back, a user is refused for as long as it was set back",
	},
	{
		file:  "store/redisstore/internal/presence/enter.lua",
		old:   `for i = 1, #sockets - most do`,
		new:   `for i = 1, #sockets - most - 1 do`,
		tests: "-run=^TestPresence$ ./store/redisstore/internal/presence",
		harm:  "a user has one socket more than the limit",
	},
	{
		file:  "store/redisstore/internal/bus/bus.go",
		old:   `if p.compared.IsZero() {`,
		new:   `if p.compared.IsZero() || true {`,
		tests: "-run=SilentPeer ./store/redisstore/internal/bus",
		harm:  "an instance that was silent before an outage counts as heard, and its messages are missed for longer",
	},
}
