package flaws

import (
	"context"

	"hongbao/cmd/hongbao-bench/schemes"
)

// Flaw is a scenario.
type Flaw struct {
	Name   string
	Scheme string
	Says   string // what is said of the scheme
	Show   func(ctx context.Context, st *Stage) (Finding, error)
}

// Finding is what came of it.
type Finding struct {
	Reproduced bool   `json:"reproduced"`
	Evidence   string `json:"evidence"`
	Ours       string `json:"ours"` // the same on ours
	OursPasses bool   `json:"ours_passes"`
}

// Stage is where flaws are shown.
type Stage struct {
	// Fresh gives connections to an empty Redis, always the same server, and to an empty database.
	Fresh func(ctx context.Context) (schemes.Engines, error)
	// Twin gives another process connections to the same.
	Twin  func(ctx context.Context, e schemes.Engines) (schemes.Engines, error)
	Redis Server // that Fresh is on

	Schemes []schemes.Named
	Ours    schemes.Named
}

// Server can be killed and started again. It keeps nothing.
type Server interface {
	Kill()
	Restart(ctx context.Context) error
}

// All flaws, in the order of the schemes.
func All() []Flaw {
	return []Flaw{
		{"jam", "lua-split", "2.00 over 100 people serves a few, then every grab is an error", jam},
		{"first-get-most", "lua-split", "the first places get most of the money", firstGetMost},
		{"repeated-random", "lua-split", "Redis draws the same amounts after each start", repeatedRandom},
		{"lost-queue", "lua-split", "what is queued dies with the process, though it was told", lostQueue},
		{"lost-event", "lua-split", "a packet that expires while nobody listens is never refunded", lostEvent},
		{"late-second-grab", "lua-split", "a grab in the last half second turns the event into del: no refund", lateGrab},
		{"double-refund", "lua-split", "two listeners refund twice", doubleRefund},
		{"refund-overtakes-grab", "lua-split", "what one process still has queued another one refunds: it is paid twice", refundOvertakes},
		{"postponed-expiry", "lua-split", "steady grabs keep a packet alive", postponedExpiry},
		{"lua-list-redis-dies", "lua-list", "what was told in the last moment is lost when Redis dies", func(ctx context.Context, st *Stage) (Finding, error) {
			return redisDies(ctx, st, "lua-list")
		}},
		{"lua-list-thread-dies", "lua-list", "what the thread has popped and not written is lost", threadDies},
		{"no-expiry", "lua-list", "packets never end, and the rest never comes back", noExpiry},
		{"lease-outlived", "lock", "a holder slower than the lease is not alone: one share is paid twice", leaseOutlived},
		{"lock-serial", "lock", "everybody waits for one slow holder", lockSerial},
		{"too-few-retries", "optimistic", "people get nothing although shares are left", tooFewRetries},
		{"row-lock-serial", "pessimistic", "everybody waits for one slow transaction", rowLockSerial},
		{"retries-at-the-end", "prealloc", "the last shares are fought for as in optimistic, and some get nothing although shares are left", retriesAtTheEnd},
		{"crash-after-pop", "redis-queue", "a crash between pop and SQL loses the share", crashAfterPop},
		{"told-before-sql", "redis-queue-async", "what was told is lost when Redis dies before SQL has it", func(ctx context.Context, st *Stage) (Finding, error) {
			return redisDies(ctx, st, "redis-queue-async")
		}},
		{"gap-between-pop-and-push", "redis-queue-async", "a crash between pop and push loses the share", gapAfterPop},
	}
}
