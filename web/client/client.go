package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
)

// Options of a Client. Token or GetToken is needed.
type Options struct {
	Token    string                                    // a JWT
	GetToken func(ctx context.Context) (string, error) // gives a new one when there is none or it is over, within 6 s; ErrUnauthorized ends the client
	Protobuf bool                                      // frames in Protobuf instead of JSON
	Name     string                                    // of the program, for the server's statistics; "go"
	Version  string                                    // of the program
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS      *tls.Config
	Log      *slog.Logger // nil: silent

	Queue     int   // entries of a room that wait for a slow reader, 1,024; more are read again from history
	MaxMissed int64 // how many missed entries of a room are read from history; 0: all. Others are named by Skipped
}

// Client is a user's connection to the server, across any number of sockets. It may be used by any number
// of goroutines.
type Client struct {
	// static after New
	o       Options
	url     string
	ctx     context.Context // done when the client has ended
	cancel  context.CancelFunc
	lines   context.Context // done when all sockets must be closed
	hangUp  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex // guards what follows; nothing is waited for under it
	err     error      // why the client has ended
	link    *link
	gone    chan struct{} // closed when the connection is lost; nil: there is none
	changed chan struct{} // closed and made anew when gone, or what there is to take, has changed
	token   string        // the last good one
	reading bool          // a goroutine reads history
	ever    bool          // was connected
	me      User
	account Account
	limits  Limits
	rooms   map[string]*MyRoom
	states  map[string]State // of packets among what the connect reply brings
	grabs   map[chan Grab]string
	feed    feed
}

// New makes a client and begins to connect. An error is about the address or the options; that the server
// cannot be reached is none: the client goes on trying. It must be closed.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" || strings.Contains(address, ","):
		return nil, errors.New("client: the address must be like wss://chat.example.com/v1/socket")
	case o.Token == "" && o.GetToken == nil:
		return nil, errors.New("client: Token or GetToken is needed")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	c := &Client{
		o: o, url: address, token: o.Token, changed: make(chan struct{}),
		rooms: map[string]*MyRoom{}, grabs: map[chan Grab]string{},
		feed: newFeed(cmp.Or(max(o.Queue, 0), 1024), o.MaxMissed),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.lines, c.hangUp = context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dial(nil)
	return c, nil
}

// Ready waits until the client is connected, or has ended.
func (c *Client) Ready(ctx context.Context) (Account, error) {
	if _, _, err := c.whenUp(ctx); err != nil {
		return Account{}, err
	}
	return c.Account(), nil
}

// Me is who the server says one is; the zero User before the first connect.
func (c *Client) Me() User {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.me
}

// Account is one's money as last told.
func (c *Client) Account() Account {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.account
}

// Limits are what the server has announced.
func (c *Client) Limits() Limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits
}

// Err is why the client has ended: nil while it lives, a *CloseError when the server does not want it,
// ErrClosed after Close.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the client, and with it calls and events. What may be left for a moment are goroutines of the SDK
// that wait for answers.
func (c *Client) Close() error {
	c.mu.Lock()
	c.endLocked(ErrClosed)
	c.err = ErrClosed
	l := c.link
	c.mu.Unlock()
	l.sdk.Close()
	c.hangUp()
	c.running.Wait()
	return nil
}

// endLocked ends the client, if it has not ended.
func (c *Client) endLocked(why error) {
	if c.err != nil {
		return
	}
	c.err, c.gone = why, nil
	c.cancel()
	c.wakeLocked()
}

// wakeLocked has everyone look again who waits for something.
func (c *Client) wakeLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// startLocked runs f on a goroutine for which Close waits.
func (c *Client) startLocked(f func()) error {
	if c.err != nil {
		return c.err
	}
	c.running.Go(f)
	return nil
}
