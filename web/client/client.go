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

	"hongbao/web/client/internal/feed"
	"hongbao/web/client/model"
)

// Options configures a Client. Token or GetToken is required.
type Options struct {
	Token    string                                    // a JWT
	GetToken func(ctx context.Context) (string, error) // returns a new token within 6 s; ErrUnauthorized ends the client
	Protobuf bool                                      // encode frames in Protobuf instead of JSON
	Name     string                                    // name of the program, for the server's statistics; default "go"
	Version  string                                    // version of the program
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS      *tls.Config
	Log      *slog.Logger // nil: nothing is logged

	Queue     int   // entries of a room that are queued for a slow reader, default 1,024; if there are more, all are read from history
	MaxMissed int64 // how many missed entries of a room are read from history at most; 0: all; a Skipped event names the rest
}

// Client is a user's connection to the server. It reconnects with a new socket whenever one is lost, until Close is called or the
// server refuses the client. It is safe for concurrent use.
type Client struct {
	// static after New
	o            Options
	url          string
	ctx          context.Context // done when the client has ended
	cancel       context.CancelFunc
	sockets      context.Context // done when all sockets must be closed
	closeSockets context.CancelFunc
	running      sync.WaitGroup

	mu                sync.Mutex // guards the fields below; no goroutine waits while it holds mu
	err               error      // the reason why the client has ended
	link              *link
	gone              chan struct{} // closed when the connection is lost; nil: not connected
	changed           chan struct{} // closed and replaced when gone or the rooms have changed, events may be available, or the client has ended
	token             string        // the newest token: Options.Token, or what GetToken returned last
	reading           bool          // a goroutine is reading history
	wasConnected      bool          // has been connected at least once
	me                model.User
	account           model.Account
	commitmentVersion int64 // version of the account that brought NextCommitment
	limits            model.Limits
	rooms             map[string]*model.MyRoom
	listing           *listing               // reads the rooms that the connect reply has left out; nil: the list of rooms was read
	states            map[string]model.State // states of the packets among the entries of the connect reply
	used              map[string]string      // by open packet that another device has sent: the commitment that it has used
	feed              feed.Feed
}

// New returns a client and starts to connect in the background. The error is about the address or the options. If the
// server cannot be reached, the client keeps trying. The caller must call Close.
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
		rooms: map[string]*model.MyRoom{}, used: map[string]string{},
		feed: feed.New(cmp.Or(max(o.Queue, 0), 1024), o.MaxMissed),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.sockets, c.closeSockets = context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dial(nil)
	return c, nil
}

// Ready waits until the client is connected and has read the list of the user's rooms, and returns the account. It returns an
// error if ctx is done or the client has ended.
func (c *Client) Ready(ctx context.Context) (model.Account, error) {
	for {
		c.mu.Lock()
		err, isReady, account, changed := c.err, c.gone != nil && c.listing == nil, c.account, c.changed
		c.mu.Unlock()
		switch {
		case err != nil:
			return model.Account{}, err
		case isReady:
			return account, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return model.Account{}, ctx.Err()
		}
	}
}

// Me returns the user of the token, as the server knows them. Before the first connection it is the zero User.
func (c *Client) Me() model.User {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.me
}

// Account returns the latest known state of the user's account.
func (c *Client) Account() model.Account {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.account
}

// Limits returns the limits that the server announced when the client connected last. Before the first connection they are zero.
func (c *Client) Limits() model.Limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits
}

// Err returns why the client has ended: nil while it runs, ErrClosed after Close, otherwise a *CloseError.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the client, its calls and its Events. A few goroutines of the underlying SDK may still run for a moment.
func (c *Client) Close() error {
	c.mu.Lock()
	c.endLocked(ErrClosed)
	c.err = ErrClosed
	l := c.link
	c.mu.Unlock()
	l.sdk.Close()
	c.closeSockets()
	c.running.Wait()
	return nil
}

// endLocked ends the client with the given reason. It does nothing if the client has ended already.
func (c *Client) endLocked(why error) {
	if c.err != nil {
		return
	}
	c.err, c.gone = why, nil
	c.cancel()
	c.wakeLocked()
}

// wakeLocked wakes all goroutines that wait for a change.
func (c *Client) wakeLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// startLocked runs f on a goroutine that Close waits for. It fails if the client has ended.
func (c *Client) startLocked(f func()) error {
	if c.err != nil {
		return c.err
	}
	c.running.Go(f)
	return nil
}
