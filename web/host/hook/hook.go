package hook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/meter"
	"hongbao/web/host/hostcall"
	"hongbao/web/user/api"
)

// Options configures Hooks.
type Options struct {
	URL     string
	Secrets []string      // one or two; see package hostcall
	Allowed []string      // names of hosts whose addresses need not be public
	Timeout time.Duration // of a question
	// Commands are the commands about which the host is asked.
	Commands []string
	// Open are the commands that are carried out if the host gives no verdict. The others of Commands are refused.
	Open []string
	Fund bool // the host may fund packets
	Now  func() time.Time
	Log  *slog.Logger

	MaxCalls    int           // concurrent questions about one command; default 64
	MaxPerUser  int           // those of one user; default 4
	PlaceWithin time.Duration // how long a question waits while there are too many; default 2 s
}

// Hooks asks the host. It implements api.Hooks.
type Hooks struct {
	// static
	target  *hostcall.Target
	timeout time.Duration
	hooks   map[string]*hook
	fund    bool
	now     func() time.Time
	log     *slog.Logger
}

// hook is one command about which the host is asked.
type hook struct {
	// static
	open   bool // the command is carried out if the host gives no verdict
	places *places
	took   map[Outcome]*meter.Histogram

	breaker breaker
	logged  atomic.Int64 // Unix seconds of the last log line about a failure

	leftOut       atomic.Int64 // previews that break a rule
	leftOutLogged atomic.Int64 // Unix seconds of the last log line about one
}

// Outcome says how a question ended.
type Outcome string

// The outcomes.
const (
	Allowed  Outcome = "allow"
	Replaced Outcome = "replace"
	Funded   Outcome = "fund"
	Denied   Outcome = "deny"
	TimedOut Outcome = "timeout" // no answer in time
	Failed   Outcome = "error"   // no connection, a connection that broke, or another status than 200
	Invalid  Outcome = "invalid" // an answer that breaks a rule
	Full     Outcome = "full"    // too many questions waited: the host was not asked, and the command is not carried out
	Broken   Outcome = "broken"  // the breaker is open
)

var outcomes = []Outcome{Allowed, Replaced, Funded, Denied, TimedOut, Failed, Invalid, Full, Broken}

// headerBytes bounds the header of an answer.
const headerBytes = 16 << 10

// New returns Hooks that ask the host at the URL.
func New(o Options) (*Hooks, error) {
	most, perUser, within := cmp.Or(o.MaxCalls, 64), cmp.Or(o.MaxPerUser, 4), cmp.Or(o.PlaceWithin, 2*time.Second)
	target, err := hostcall.NewTarget(hostcall.Options{
		Name: "hook", Setting: "HONGBAO_HOOK_ALLOW", URL: o.URL, Secrets: o.Secrets, Allowed: o.Allowed,
		Timeout: o.Timeout, Connections: most * len(o.Commands), HeaderBytes: headerBytes,
	})
	if err != nil {
		return nil, err
	}
	h := &Hooks{target: target, timeout: o.Timeout, hooks: map[string]*hook{}, fund: o.Fund, now: o.Now, log: cmp.Or(o.Log, slog.Default())}
	if h.now == nil {
		h.now = time.Now
	}
	for _, command := range o.Commands {
		if !slices.Contains(api.Hookable(), command) {
			return nil, fmt.Errorf("no hook before %q: want one of %v", command, api.Hookable())
		}
		k := &hook{open: slices.Contains(o.Open, command), places: newPlaces(most, perUser, within), took: map[Outcome]*meter.Histogram{}}
		for _, outcome := range outcomes {
			k.took[outcome] = meter.NewDurations()
		}
		h.hooks[command] = k
	}
	return h, nil
}

// Reach connects to the host without a question. It returns an error if no HTTP server answers.
func (h *Hooks) Reach(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, h.target.URL, nil)
	if err != nil {
		return err
	}
	resp, err := h.target.Client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Wants implements api.Hooks.
func (h *Hooks) Wants(command string) bool { return h.hooks[command] != nil }

// Funds implements api.Hooks.
func (h *Hooks) Funds() bool { return h.fund }

// Ask implements api.Hooks.
func (h *Hooks) Ask(ctx context.Context, q api.Question) (api.Verdict, error) {
	k := h.hooks[q.Command]
	if err := ctx.Err(); err != nil {
		return api.Verdict{NotAsked: true}, err
	}
	began := time.Now()
	release, err := k.places.take(ctx, q.User.ID)
	switch {
	case errors.Is(err, errFull): // users can cause it, so it is refused even if the command is carried out without a verdict
		k.took[Full].Observe(int64(time.Since(began)))
		h.report(k, q.Command, Full, err)
		return api.Verdict{NotAsked: true}, fmt.Errorf("hook before %s: %w: %w", q.Command, chat.ErrUnavailable, err)
	case err != nil:
		return api.Verdict{NotAsked: true}, err
	}
	defer release()
	began = time.Now()
	v, outcome, err := h.ask(ctx, k, q)
	k.took[outcome].Observe(int64(time.Since(began)))
	if v.NoPreview != nil {
		k.leftOut.Add(1)
		if oncePerSecond(&k.leftOutLogged) {
			h.log.Warn("preview left out", "hook", q.Command, "err", v.NoPreview)
		}
	}
	switch outcome {
	case Allowed, Replaced, Funded, Denied:
		return v, err
	}
	h.report(k, q.Command, outcome, err)
	v = api.Verdict{None: true, NotAsked: outcome == Broken}
	if k.open {
		return v, nil
	}
	return v, fmt.Errorf("hook before %s: %w: %w", q.Command, chat.ErrUnavailable, err)
}

// ask asks the host, unless the breaker is open.
func (h *Hooks) ask(ctx context.Context, k *hook, q api.Question) (api.Verdict, Outcome, error) {
	if !k.breaker.admit(h.now()) {
		return api.Verdict{}, Broken, errors.New("the host has failed too often")
	}
	// The question continues when the client disconnects: the host may have taken money already.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.timeout)
	defer cancel()
	v, outcome, err := h.call(ctx, q)
	if k.breaker.record(h.now(), outcome == TimedOut || outcome == Failed) {
		h.log.Warn("hook answers no more: it is tried again each few seconds", "hook", q.Command, "pause", breakerPause, "err", err)
	}
	return v, outcome, err
}

// call sends the question and reads the answer.
func (h *Hooks) call(ctx context.Context, q api.Question) (api.Verdict, Outcome, error) {
	q.ID = cmp.Or(q.ID, rand.Text())
	body, err := h.question(q)
	if err != nil {
		return api.Verdict{}, Invalid, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.target.URL, bytes.NewReader(body))
	if err != nil {
		return api.Verdict{}, Failed, err
	}
	h.target.Sign(req.Header, q.ID, h.now(), body)
	resp, err := h.target.Client.Do(req)
	if err != nil {
		return api.Verdict{}, failure(ctx), err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return api.Verdict{}, failure(ctx), err
	case resp.StatusCode != http.StatusOK:
		return api.Verdict{}, Failed, fmt.Errorf("the host answered %s", resp.Status)
	}
	return verdict(text, q)
}

// failure returns the outcome of a question without an answer.
func failure(ctx context.Context) Outcome {
	if ctx.Err() != nil {
		return TimedOut
	}
	return Failed
}

// report logs that the host gave no verdict, for each command at most once a second.
func (h *Hooks) report(k *hook, command string, outcome Outcome, err error) {
	if oncePerSecond(&k.logged) {
		h.log.Warn("hook gave no verdict", "hook", command, "outcome", outcome, "carried_out", k.open && outcome != Full, "err", err)
	}
}

// oncePerSecond reports whether it is called for the first time within this second. last has the second of the last call that was told so.
func oncePerSecond(last *atomic.Int64) bool {
	now, before := time.Now().Unix(), last.Load()
	return before != now && last.CompareAndSwap(before, now)
}

// Stats returns how long questions took, by command and outcome, without the outcomes that never occurred.
func (h *Hooks) Stats() (all []meter.Questions) {
	for command, k := range h.hooks {
		s := meter.Questions{Command: command, Broken: k.breaker.open(), PreviewsLeftOut: k.leftOut.Load(), Took: map[string]meter.Counts{}}
		for outcome, took := range k.took {
			if c := took.Read(); c.Count > 0 {
				s.Took[string(outcome)] = c
			}
		}
		all = append(all, s)
	}
	return all
}
