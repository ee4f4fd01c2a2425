package auth

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
	refreshInterval  = 10 * time.Minute // a key that the host withdraws is accepted for up to this long, or longer while fetches fail
	minFetchInterval = 10 * time.Second // minimum time between fetches: tokens with invented key IDs cannot cause more
	fetchTimeout     = 5 * time.Second
	maxKeySetBytes   = 1 << 20
)

// errNoKey means that the key set does not contain the key, or that it has several keys and the token names none.
var errNoKey = errors.New("no such key")

// remoteKeys holds the keys that the host publishes at a URL and may change at any time. If a fetch fails, the last valid set
// stays in use.
type remoteKeys struct {
	// static
	url    string
	logURL string // the URL without its password
	client *http.Client
	now    func() time.Time
	log    *slog.Logger
	ctx    context.Context // context of all fetches
	stop   context.CancelFunc

	set atomic.Pointer[keySet] // nil: no fetch has succeeded yet

	mu      sync.Mutex
	current *fetch    // guarded by mu; the fetch in progress
	last    time.Time // guarded by mu; start of the latest fetch
}

// fetch is one request for the key set. Callers that arrive while it is in progress wait for its result.
type fetch struct {
	done chan struct{} // closed when err is set and the new set, if any, is stored
	err  error
}

func newRemoteKeys(address string, now func() time.Time, log *slog.Logger) (*remoteKeys, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if !fetchable(u) {
		return nil, fmt.Errorf("%q is not https://…: over plain HTTP anyone on the way could replace the keys", u.Redacted())
	}
	k := &remoteKeys{url: address, logURL: u.Redacted(), client: newKeyClient(), now: now, log: log}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k, nil
}

// CheckKeySet fetches the key set at the address once. It returns nil if the set has a usable key.
func CheckKeySet(address string) error {
	k, err := newRemoteKeys(address, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer k.stop()
	_, err = k.read()
	return err
}

// find implements keySource. An unknown key ID causes a fetch, at most one per minFetchInterval for all IDs. While no fetch has
// shown whether the ID is a new key's, the error of find wraps chat.ErrUnavailable: the client may retry.
func (k *remoteKeys) find(ctx context.Context, id string) (key, error) {
	set := k.set.Load()
	if set != nil {
		if found, ok := set.find(id); ok {
			return found, nil
		}
		if id == "" { // the token names no key, and the set has several: a fetch would not help
			return key{}, errNoKey
		}
	}
	f := k.startFetch(set)
	if f != nil {
		if err := f.wait(ctx); err != nil {
			return key{}, fmt.Errorf("%w: fetch keys: %w", chat.ErrUnavailable, err)
		}
	}
	if set = k.set.Load(); set != nil { // set by this fetch, or by one that ended just before
		if found, ok := set.find(id); ok {
			return found, nil
		}
	}
	if f == nil {
		return key{}, fmt.Errorf("%w: key %.64q is unknown and the keys were fetched less than %v ago", chat.ErrUnavailable, id, minFetchInterval)
	}
	return key{}, fmt.Errorf("%w %.64q", errNoKey, id)
}

// startFetch starts a fetch, or returns the fetch in progress. It returns nil if the set has changed since the caller
// read it (seen), or if the last fetch began less than minFetchInterval ago.
func (k *remoteKeys) startFetch(seen *keySet) *fetch {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.current != nil || k.set.Load() != seen || !k.last.IsZero() && now.Sub(k.last) < minFetchInterval {
		return k.current
	}
	f := &fetch{done: make(chan struct{})}
	k.current, k.last = f, now
	go func() {
		set, err := k.read()
		if err == nil {
			k.set.Store(set)
		} else {
			k.log.Warn("JWKS fetch failed, last keys stay in use", "url", k.logURL, "err", err)
		}
		k.mu.Lock()
		k.current = nil
		k.mu.Unlock()
		f.err = err
		close(f.done)
	}()
	return f
}

// run refreshes the keys until ctx ends. After it returns, no fetch succeeds.
func (k *remoteKeys) run(ctx context.Context) {
	defer k.end()
	for {
		wait := minFetchInterval // if the fetch fails, or a token has caused one less than minFetchInterval ago
		if f := k.startFetch(k.set.Load()); f != nil && f.wait(ctx) == nil {
			wait = refreshInterval
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// end cancels the fetch in progress and all later ones, and waits until the one in progress has ended.
func (k *remoteKeys) end() {
	k.stop()
	k.mu.Lock()
	f := k.current
	k.mu.Unlock()
	if f != nil {
		<-f.done
	}
}

// wait waits for the fetch and returns its error. If ctx ends first, it returns the error of ctx.
func (f *fetch) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
