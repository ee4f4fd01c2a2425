package flaws

import (
	"context"

	"hongbao/cmd/hongbao-bench/schemes"
)

// Flaw is a scenario that shows one flaw of one scheme.
type Flaw struct {
	Name   string
	Scheme string
	Says   string // the claim about the scheme
	Show   func(ctx context.Context, st *Environment) (Finding, error)
}

// Finding is what a scenario has shown.
type Finding struct {
	Reproduced bool   `json:"reproduced"`
	Evidence   string `json:"evidence"`
	Ours       string `json:"ours"` // what the same scenario did with our service
	OursPasses bool   `json:"ours_passes"`
}

// Environment gives the engines to scenarios.
type Environment struct {
	// Fresh returns connections to an emptied Redis, always of the same server, and to a new database with empty tables.
	Fresh func(ctx context.Context) (schemes.Engines, error)
	// Twin returns connections to the same Redis and database, as another process would have.
	Twin  func(ctx context.Context, e schemes.Engines) (schemes.Engines, error)
	Redis Server // the server that Fresh uses

	Schemes []schemes.Named
	Ours    schemes.Named
}

// Server can be killed and started again. It loses its data then.
type Server interface {
	Kill()
	Restart(ctx context.Context) error
}

// All returns all flaws, in the order of the schemes.
func All() []Flaw {
	return []Flaw{
		{"jam", "lua-split", "2.00 over 100 people serves a few, then every grab is an error", jam},
		{"first-get-most", "lua-split", "the first ranks get most of the money", firstGetMost},
		{"repeated-random", "lua-split", "Redis draws the same amounts after each start", repeatedRandom},
		{"lost-queue", "lua-split", "queued grabs die with the process, though they were answered", lostQueue},
		{"lost-event", "lua-split", "a packet that expires without a listener is never refunded", lostEvent},
		{"late-second-grab", "lua-split", "a grab in the last half second turns the event into del: no refund", lateGrab},
		{"double-refund", "lua-split", "two listeners refund twice", doubleRefund},
		{"refund-overtakes-grab", "lua-split", "a grab queued in one process is refunded by another: it is paid twice", refundOvertakes},
		{"postponed-expiry", "lua-split", "steady grabs keep a packet alive", postponedExpiry},
		{"lua-list-redis-dies", "lua-list", "the last answered grabs are lost when Redis dies", func(ctx context.Context, st *Environment) (Finding, error) {
			return redisDies(ctx, st, "lua-list")
		}},
		{"lua-list-thread-dies", "lua-list", "shares that the thread has popped and not written are lost", threadDies},
		{"no-expiry", "lua-list", "packets never end, and the rest is never refunded", noExpiry},
		{"lease-outlived", "lock", "a holder slower than the lease is not the only one: one share is paid twice", leaseOutlived},
		{"lock-serial", "lock", "all grabs wait for one slow holder", lockSerial},
		{"too-few-retries", "optimistic", "grabs get nothing although shares are left", tooFewRetries},
		{"row-lock-serial", "pessimistic", "all grabs wait for one slow transaction", rowLockSerial},
		{"retries-at-the-end", "prealloc", "the last shares conflict as in optimistic, and some grabs get nothing although shares are left", retriesAtTheEnd},
		{"crash-after-pop", "redis-queue", "a crash between pop and SQL loses the share", crashAfterPop},
		{"told-before-sql", "redis-queue-async", "answered grabs are lost when Redis dies before SQL has them", func(ctx context.Context, st *Environment) (Finding, error) {
			return redisDies(ctx, st, "redis-queue-async")
		}},
		{"gap-between-pop-and-push", "redis-queue-async", "a crash between pop and push loses the share", gapAfterPop},
	}
}
