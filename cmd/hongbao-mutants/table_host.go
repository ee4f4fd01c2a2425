package main

// hostMutants break what connects the server with a host's back end: wallets and fundings, hooks, the addresses that the
// server calls, requests of the server API, notifications, and the example of a host that checks our signatures.
var hostMutants = []mutant{
	{
		file:  "store/sqlitestore/account.go",
		old:   `and balance >= ? and frozen_at = 0 returning 1`,
		new:   `and balance >= ? returning 1`,
		tests: "-run=TestHostFreezesAndLimitsWallets ./web/host/server",
		harm:  "a frozen wallet spends",
	},
	{
		file:  "store/tables/fundings.go",
		old:   `and state = 'asked' and asks = 1`,
		new:   `and state = 'asked'`,
		tests: "-run=TestFundings ./store/sqlitestore",
		harm:  "a funding whose money the host has taken is forgotten, and never put back",
	},
	{
		file:  "store/tables/fundings.go",
		old:   `and id = $3 and state = 'asked' returning room_id, key`,
		new:   `and id = $3 and state <> 'reversed' returning room_id, key`,
		tests: "-run=TestFundings ./store/sqlitestore",
		harm:  "the host puts back the money of a packet that was sent",
	},
	{
		file:  "redpacket/funding.go",
		old:   `case err == nil && !sent.Dup:`,
		new:   `case err == nil:`,
		tests: "-run=TestRefusedPacketsAreReversedOnce ./web",
		harm:  "a packet that was sent before without the funding keeps the host's money for 15 s",
	},
	{
		file:  "web/host/hook/answer.go",
		old:   `v.Fund.Amount < 1 || v.Fund.Amount > q.MaxFund`,
		new:   `v.Fund.Amount > q.MaxFund`,
		tests: "-run=TestVerdicts ./web/host/hook",
		harm:  "a mistake of the host funds a packet with nothing, or less",
	},
	{
		file:  "web/host/hook/answer.go",
		old:   `case a.Allow == nil:`,
		new:   `case a.Allow == nil && false:`,
		tests: "-run=TestVerdicts ./web/host/hook",
		harm:  "an answer that says nothing stops the server's goroutine, or allows",
	},
	{
		file: "web/host/hook/hook.go",
		old:  `	case errors.Is(err, errFull): //`,
		new: `	case errors.Is(err, errFull) && k.open:
		return api.Verdict{None: true, NotAsked: true}, nil
	case errors.Is(err, errFull): //`,
		tests: "-run=TestFullQueue ./web/host/hook",
		harm:  "users switch the host's filter of texts off by sending much",
	},
	{
		file:  "web/host/hook/places.go",
		old:   `Holders: perUser}`,
		new:   `Holders: most}`,
		tests: "-run=Place ./web/host/hook",
		harm:  "one user keeps the host from being asked about the others",
	},
	{
		file:  "web/host/hook/breaker.go",
		old:   `b.next = now.Add(breakerPause) // so that only one question is on trial`,
		new:   ``,
		tests: "-run=TestOneQuestionIsOnTrial ./web/host/hook",
		harm:  "while the host is down, every command waits for it",
	},
	{
		file:  "web/dial/dial.go",
		old:   `a = a.Unmap().WithZone("")`,
		new:   ``,
		tests: "./web/dial",
		harm:  "a private address of a provider, written as an IPv6 address, is called",
	},
	{
		file:  "web/dial/dial.go",
		old:   `CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },`,
		new:   ``,
		tests: "-run=Redirect|Hostile ./web/host/events ./web/user/webpush",
		harm:  "a host's answer sends signed requests to other addresses",
	},
	{
		file:  "web/host/server/request.go",
		old:   `if members == nil { // the body is null`,
		new:   `if members == nil && false { // the body is null`,
		tests: "-run=TestHostileBodies ./web/host/server",
		harm:  "a body null panics",
	},
	{
		file:  "web/user/webpush/notifier.go",
		old:   `n.made[found.from.ID] >= mostOfUser`,
		new:   `n.made[found.from.ID] >= mostTopics`,
		tests: "-run=TestOneUserFillsNoMoreThanItsOwnTopics ./web/user/webpush",
		harm:  "one user's texts take the place of all other news",
	},
	{
		file:  "web/user/webpush/notifier.go",
		old:   `*t = topic{by: t.by, due: now.Add(quiet)}`,
		new:   `*t = topic{by: t.by, due: now.Add(gather)}`,
		tests: "-run=TestBusyRoomCostsFewNotifications ./web/user/webpush",
		harm:  "a busy room rings every two seconds",
	},
	{
		file:  "web/docs/examples/signed/signed.go",
		old:   `.Abs() > 5*time.Minute`,
		new:   `.Abs() > 5*time.Hour`,
		tests: "./web/docs/examples/signed",
		harm:  "a host acts on a request that was recorded",
	},
}
