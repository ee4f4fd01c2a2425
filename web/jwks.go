package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat"
)

const (
	jwksEvery = 10 * time.Minute // a key that the host takes back is believed no longer than this
	jwksGap   = 10 * time.Second // between two fetches at least: anyone can make up the name of a key
	jwksTime  = 5 * time.Second
	jwksBytes = 1 << 20
)

// errNoKey means that the set has been looked at and does not have the key.
var errNoKey = errors.New("no such key")

// jwks are the keys at a URL of the host, who changes them when he likes. Those last heard of stay good while the URL
// does not answer.
type jwks struct {
	// static
	url    string
	shown  string // the URL without its password
	client *http.Client
	now    func() time.Time
	log    *slog.Logger
	ctx    context.Context // of all fetches
	stop   context.CancelFunc

	set atomic.Pointer[keySet] // nil: none has come yet

	mu     sync.Mutex
	flight *flight   // guarded by mu; the fetch under way
	last   time.Time // guarded by mu; when the last one began
}

// flight is a fetch that everybody who comes meanwhile waits for.
type flight struct {
	done chan struct{} // closed when err is set and the set, if one came, is in place
	err  error
}

func newJWKS(address string, now func() time.Time, log *slog.Logger) (*jwks, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if !fetchable(u) {
		return nil, fmt.Errorf("%q is not https://…: who can change the keys on their way can be anybody", u.Redacted())
	}
	j := &jwks{url: address, shown: u.Redacted(), client: newKeyClient(), now: now, log: log}
	j.ctx, j.stop = context.WithCancel(context.Background())
	return j, nil
}

// find implements keySource. The keys are fetched anew for one that is not known, but not often: until we could look,
// nobody knows whether it is a new one, and chat.ErrUnavailable lets its bearer come back.
func (j *jwks) find(ctx context.Context, id string) (key, error) {
	set := j.set.Load()
	if set != nil {
		if k, ok := set.find(id); ok {
			return k, nil
		}
		if id == "" { // a token without a name stays without
			return key{}, errNoKey
		}
	}
	f := j.fetch(set)
	if f != nil {
		if err := f.wait(ctx); err != nil {
			return key{}, fmt.Errorf("%w: keys of tokens: %w", chat.ErrUnavailable, err)
		}
	}
	if set = j.set.Load(); set != nil { // of the fetch, or of one that was over just before
		if k, ok := set.find(id); ok {
			return k, nil
		}
	}
	if f == nil {
		return key{}, fmt.Errorf("%w: too soon to look for the key %.64q", chat.ErrUnavailable, id)
	}
	return key{}, fmt.Errorf("%w %.64q", errNoKey, id)
}

// fetch starts a fetch, or joins the one under way; nil: another set than the one seen has come, or it is too soon for another.
func (j *jwks) fetch(seen *keySet) *flight {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	if j.flight != nil || j.set.Load() != seen || !j.last.IsZero() && now.Sub(j.last) < jwksGap {
		return j.flight
	}
	f := &flight{done: make(chan struct{})}
	j.flight, j.last = f, now
	go func() {
		set, err := j.read()
		if err == nil {
			j.set.Store(set)
		} else {
			j.log.Warn("keys of tokens not fetched, those known stay good", "url", j.shown, "err", err)
		}
		j.mu.Lock()
		j.flight = nil
		j.mu.Unlock()
		f.err = err
		close(f.done)
	}()
	return f
}

// run keeps the keys fresh until ctx is done; then none is fetched any more.
func (j *jwks) run(ctx context.Context) {
	defer j.end()
	for {
		wait := jwksGap // a token was first, or the URL does not answer
		if f := j.fetch(j.set.Load()); f != nil && f.wait(ctx) == nil {
			wait = jwksEvery
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// end breaks off the fetch under way, and those that come later.
func (j *jwks) end() {
	j.stop()
	j.mu.Lock()
	f := j.flight
	j.mu.Unlock()
	if f != nil {
		<-f.done
	}
}

// wait until the fetch is over, and tell what came of it, or until ctx is.
func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
