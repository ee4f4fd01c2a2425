package main

// hubMutants break the rules of delivery.
var hubMutants = []mutant{
	{
		file:  "hub/topic.go",
		old:   `case m.Seq <= t.last:`,
		new:   `case m.Seq < t.last:`,
		tests: "-run=RepeatedMessage ./hub",
		harm:  "a message that comes twice reveals a gap that does not exist: the store is read for ever, and signals wait",
	},
	{
		file:  "hub/topic.go",
		old:   `if m.Seq > 0 && m.Seq <= s.after ||`,
		new:   `if m.Seq > 0 && m.Seq < s.after ||`,
		tests: "-run=Subscri|Order ./hub",
		harm:  "a client receives the last entry of its snapshot once more",
	},
	{
		file:  "hub/topic.go",
		old:   `m.Seq > max(s.after, s.renewed) &&`,
		new:   `m.Seq > s.after &&`,
		tests: "-run=Final|Subscri ./hub",
		harm:  "a user that has returned to a room is thrown out by the late message of its leaving",
	},
	{
		file:  "hub/topic.go",
		old:   `if g.top <= t.last {`,
		new:   `if g.top < t.last {`,
		tests: "-run=Gap|Crossed|Signals ./hub",
		harm:  "a gap that was filled is repaired again, and signals behind it wait for ever",
	},
	{
		file:  "hub/registry.go",
		old:   `if t.gap != nil && t.gap.hold(data) {`,
		new:   `if false {`,
		tests: "-run=Signals ./hub",
		harm:  "a signal overtakes the entries before it",
	},
	{
		file:  "hub/resume.go",
		old:   `if s.Through > t.last {`,
		new:   `if s.Through > t.last+1 {`,
		tests: "-run=Recent ./hub",
		harm:  "a client that reconnects lacks the newest entry",
	},
	{
		file: "hub/backlog.go",
		old: `		b.first++
		b.complete = true`,
		new:   `		b.first++`,
		tests: "-run=Recent|Backlog ./hub",
		harm:  "the store is read again and again for entries that do not fit into the backlog",
	},
	{
		file:  "hub/subscription.go",
		old:   `if s.leave != nil && s.leave.through <= seen {`,
		new:   `if s.leave != nil && s.leave.through < seen {`,
		tests: "-run=Resubscribe|Unsubscribe ./hub",
		harm:  "a user that has returned to a room receives nothing more",
	},
	{
		file:  "hub/bus.go",
		old:   `	if !r.hub.env.busDown.Load() {`,
		new:   `	if false {`,
		tests: "-run=PeersHear ./hub",
		harm:  "after a loss on the bus, instances go on with outdated memberships",
	},
}

// authMutants break the checks of tokens.
var authMutants = []mutant{
	{
		file:  "web/auth/key.go",
		old:   `case t.Method.Alg() != k.method:`,
		new:   `case k.method == "":`,
		tests: "./web/auth",
		harm:  "a token chooses the algorithm by which it is verified",
	},
	{
		file:  "web/auth/key.go",
		old:   `if _, set := t.Header["crit"]; set {`,
		new:   `if _, set := t.Header["crit"]; set && id == "" {`,
		tests: "./web/auth",
		harm:  "a token with conditions that this server does not know is accepted",
	},
	{
		file:  "web/auth/claims.go",
		old:   `case strings.HasPrefix(sub, guestPrefix) != guests:`,
		new:   `case guests && !strings.HasPrefix(sub, guestPrefix):`,
		tests: "./web/auth",
		harm:  "a token of the host acts as a guest of this server",
	},
	{
		file:  "web/auth/verifier.go",
		old:   `jwt.ErrTokenInvalidIssuer, jwt.ErrTokenInvalidAudience, jwt.ErrTokenNotValidYet,`,
		new:   `jwt.ErrTokenInvalidIssuer, jwt.ErrTokenNotValidYet,`,
		tests: "./web/auth",
		harm:  "a client asks again and again for a token that is for another service",
	},
	{
		file:  "web/auth/verifier.go",
		old:   `[]jwt.ParserOption{jwt.WithExpirationRequired(), jwt.WithTimeFunc(now)}`,
		new:   `[]jwt.ParserOption{jwt.WithTimeFunc(now)}`,
		tests: "./web/auth",
		harm:  "a token without an expiry is valid for ever",
	},
	{
		file:  "web/auth/keyset.go",
		old:   `if j.Use != "" && j.Use != "sig" {`,
		new:   `if false {`,
		tests: "./web/auth",
		harm:  "a key for encryption verifies tokens",
	},
	{
		file:  "web/auth/keyset.go",
		old:   `	set.only = nil` + "\n",
		new:   ``,
		tests: "./web/auth",
		harm:  "a token that names no key is verified with the last key of several",
	},
	{
		file:  "web/auth/jwks.go",
		old:   `|| !k.last.IsZero() && now.Sub(k.last) < minFetchInterval {`,
		new:   `{`,
		tests: "./web/auth",
		harm:  "tokens with invented key ids make this server load the host's keys without limit",
	},
	{
		file:  "web/auth/jwks_fetch.go",
		old:   `case r.URL.Scheme != "https" && via[0].URL.Scheme == "https", !fetchable(r.URL):`,
		new:   `case !fetchable(r.URL):`,
		tests: "./web/auth",
		harm:  "a redirect makes this server fetch keys without encryption",
	},
}

// sessionMutants break the rules of sessions.
var sessionMutants = []mutant{
	{
		file:  "web/session/refresh.go",
		old:   `identity.User.ID != before.User.ID {`,
		new:   `false && identity.User.ID != before.User.ID {`,
		tests: "-run=Refresh ./web",
		harm:  "a session of one user becomes that of another one",
	},
	{
		file:  "web/session/apply.go",
		old:   `case known && standing.In != (sig.Entered != nil):`,
		new:   `case false:`,
		tests: "-run=Crosswise|Kicked|Back|Signal ./web",
		harm:  "of two changes that cross on the way, the older one wins: a kicked user goes on reading",
	},
	{
		file:  "web/session/recover.go",
		old:   `if int64(len(messages)) != g.size() {`,
		new:   `if len(messages) == 0 {`,
		tests: "-run=Recover ./web",
		harm:  "a client is told that it has all missed entries, and lacks some",
	},
	{
		file:  "web/session/welcome.go",
		old:   `if has.Epoch == o.epoch && has.Offset`,
		new:   `if has.Offset`,
		tests: "-run=Recover ./web",
		harm:  "a client with entries of another database gets those of this one behind them",
	},
	{
		file:  "web/session/connect.go",
		old:   `if !upgrade.Expires.After(s.m.c.Now()) {`,
		new:   `if false {`,
		tests: "-run=Bearer|Connect|Upgrade|Token ./web",
		harm:  "a token that has expired between upgrade and connect opens a session",
	},
	{
		file:  "web/session/connect.go",
		old:   `	if err := m.admit(ctx, o.identity); err != nil { // the token`,
		new:   `	if err := error(nil); err != nil { // the token`,
		tests: "-run=Revoked ./web",
		harm:  "a token that is revoked while its session opens stays connected",
	},
	{
		file:  "web/session/read.go",
		old:   `return !s.commands.has(id)`,
		new:   `return true`,
		tests: "-run=IDInFlight ./web",
		harm:  "two commands with one id run at once, and the client takes one's reply for the other's",
	},
	{
		file:  "web/session/recheck.go",
		old:   `		s.close(wire.CloseRevoked)` + "\n",
		new:   ``,
		tests: "-run=Revoked ./web",
		harm:  "a session whose revocation was lost on the bus stays connected",
	},
	{
		file:  "web/session/inflight.go",
		old:   `case i == maxRunning, !overlaps && !alone:`,
		new:   `case i == maxRunning:`,
		tests: "-run=Overlapping|Order|InFlight ./web/session ./web",
		harm:  "commands of one client overtake each other",
	},
	{
		file:  "web/session/signal.go",
		old:   `if !q.full() || sig.Close != nil {`,
		new:   `if !q.full() {`,
		tests: "-run=Signal|Disconnect ./web",
		harm:  "a session with many waiting signals ignores that it must be closed",
	},
	{
		file:  "web/session/early.go",
		old:   `if s.commands.early == maxEarly || !slices`,
		new:   `if !slices`,
		tests: "-run=Early|Late|Pending ./web/session ./web",
		harm:  "one client makes any number of grabs wait for their commits at once",
	},
	{
		file:  "web/session/pace.go",
		old:   `b.full, b.refused = now, 0`,
		new:   `b.full = now`,
		tests: "-run=Pace ./web/session",
		harm:  "a client that was refused 200 times in a year is disconnected",
	},
}
