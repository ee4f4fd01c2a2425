package main

// eventMutants break the rules of the event stream, of telling absent users, and of reports.
var eventMutants = []mutant{
	{
		file:  "web/host/events/deliver.go",
		old:   `} else if n+len(held) >= maxHeld {`,
		new:   `} else if false {`,
		tests: "-run=HeldEventsAreBounded ./web/host/events",
		harm:  "a host that refuses all events has the database hold any number of them",
	},
	{
		file:  "web/host/events/wait.go",
		old:   `w.polling, w.known = false, false`,
		new:   `w.polling = false`,
		tests: "-run=NewestPositionIsNotKept ./web/host/events",
		harm:  "a request that waits for events reads the stream because of a position that is long outdated",
	},
	{
		file:  "web/host/events/service.go",
		old:   `if promised && q.After.String() == before.String() {`,
		new:   `if promised && q.After.String() != before.String() {`,
		tests: "-run=DoesNotSpin ./web/host/events",
		harm:  "a request that waits for events reads the stream without a pause after its newest rows were deleted",
	},
	{
		file:  "store/eventlog/stream.go",
		old:   `err != nil && now.Sub(it.row.At) < VisibleWithin`,
		new:   `err != nil && false`,
		tests: "-run=FactComesLater ./store/eventlog",
		harm:  "on Citus a reader moves past a row whose entry is committed a moment later: the event is lost",
	},
	{
		file:  "store/eventlog/ledger.go",
		old:   `(has.Leaves < l.Leaves || moves[l.ID] < has.Moves)`,
		new:   `has.Leaves < l.Leaves`,
		tests: "-run=LedgerWaits ./store/eventlog",
		harm:  "on Citus the export of the ledger loses a send whose transfer is committed a moment later",
	},
	{
		file:  "web/host/events/lease.go",
		old:   `	expiry := time.AfterFunc(time.Until(valid), cancel)`,
		new:   `	expiry := time.AfterFunc(time.Hour, cancel)`,
		tests: "-run=RoundsEnd ./web/host/events",
		harm:  "two instances deliver events at once while a renewal hangs",
	},
	{
		file:  "store/tables/absences.go",
		old:   `read_seq < $2 and (not silent or silent_until between 1 and $6)`,
		new:   `read_seq < $2`,
		tests: "-run=TestEvents/members_that_have_not_read ./store/sqlitestore",
		harm:  "a user is told of entries of a room that the user has silenced",
	},
	{
		file:  "store/tables/absences.go",
		old:   ` and (not $2 or n.row_id < h.row_id)`,
		new:   ``,
		tests: "-run=TestEvents/news_for_absent ./store/sqlitestore",
		harm:  "an entry counts twice, by the first and by the second look",
	},
	{
		file:  "web/host/events/absent.go",
		old:   `q.Until = s.o.Now().Add(-againAfter)`,
		new:   ``,
		tests: "-run=TestAbsentUsersOfADeadInstanceAreTold ./web/host/events",
		harm:  "users whose instance has just died are never told",
	},
	{
		file:  "web/host/events/absent.go",
		old:   `due[i].Back = online[i]`,
		new:   `due[i].Back = online[i] && false`,
		tests: "-run=TestAbsentUsersAreToldOnceAMinute ./web/host/events",
		harm:  "a user that is back is told what it sees already",
	},
	{
		file:  "web/host/events/deliver.go",
		old:   `if err != nil || len(next) == 0 || !s.retryList(ctx, next) {`,
		new:   `if true || err != nil || len(next) == 0 || !s.retryList(ctx, next) {`,
		tests: "-run=TestHeldEventsCatchUp ./web/host/events",
		harm:  "a room that the host has refused for a while never catches up",
	},
	{
		file:  "chat/reports.go",
		old:   `known = standing.Ever`,
		new:   `known = standing.Ever || true`,
		tests: "-run=TestReportOnlyWhatTheUserSees ./chat",
		harm:  "a user learns who was in a room, or reports users that it never met",
	},
}
