package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/webtest"
)

// centrifugeJS is the npm package centrifuge with one of its encodings, on a page in Chromium. All its clients are on that page.
type centrifugeJS struct {
	t        *testing.T
	site     *site
	protobuf bool
	tab      *webtest.Tab

	mu      sync.Mutex
	clients []*jsClient // guarded by mu; by id
}

func (c *centrifugeJS) reconnectsAfterTooBig() bool { return false }

func (c *centrifugeJS) open(o options, log *eventLog) client {
	c.t.Helper()
	j := &jsClient{page: c, refresh: o.refresh, log: log}
	c.mu.Lock()
	j.id = len(c.clients)
	c.clients = append(c.clients, j)
	c.mu.Unlock()
	webtest.Ask[chromedp.Void](c.tab, fmt.Sprintf("driver.open(%s)", e2e.JSON(map[string]any{
		"id": j.id, "url": o.server.SocketURL(false), "token": o.token, "refreshes": o.refresh != nil, "bytes": c.protobuf,
		"timeout": timeout.Milliseconds(),
	})))
	return j
}

// prepare opens the page. It runs after the first server has started, so test cleanup closes the page before that
// server is killed. A server started later in the scenario is killed first.
func (c *centrifugeJS) prepare() {
	c.t.Helper()
	c.tab = c.site.chromium.Tab(c.t, func(event any) {
		if e, ok := event.(*runtime.EventBindingCalled); ok && e.Name == "record" {
			c.record([]byte(e.Payload))
		}
	})
	c.tab.Do(
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, runtime.AddBinding, runtime.AddBindingParams{Name: "record"})
			return err
		}),
		chromedp.ExposeFunc("token", func(_ context.Context, id int) (nextToken, error) { return c.client(id).nextToken(), nil }),
		chromedp.Navigate(c.site.page(c.protobuf)),
	)
}

func (c *centrifugeJS) client(id int) *jsClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clients[id]
}

// nextToken is the answer to a page that asks for a new token.
type nextToken struct {
	Token   string `json:"token"`
	Refused string `json:"refused"` // the reason why the user gets no more tokens
	Error   string `json:"error"`   // a failure after which the page may ask again
}

func (j *jsClient) nextToken() nextToken {
	token, err := j.refresh()
	switch {
	case errors.Is(err, errNoToken):
		return nextToken{Refused: err.Error()}
	case err != nil:
		return nextToken{Error: err.Error()}
	}
	return nextToken{Token: token}
}

// record writes an event, which a client on the page has reported, into the client's log.
func (c *centrifugeJS) record(text []byte) {
	var n struct {
		ID                       int
		Event, Channel, Data     string
		Code                     uint32
		Offset                   uint64
		WasRecovering, Recovered bool
	}
	if err := json.Unmarshal(text, &n); err != nil {
		c.t.Errorf("an event of the page cannot be decoded: %.200s: %v", text, err)
		return
	}
	log := c.client(n.ID).log
	switch data := []byte(n.Data); n.Event {
	case "connected":
		log.connected(data)
	case "reconnecting":
		log.reconnecting(n.Code)
	case "disconnected":
		log.disconnected(n.Code)
	case "subscribed":
		log.subscribed(n.Channel, n.Offset, data, n.WasRecovering, n.Recovered)
	case "unsubscribed":
		log.unsubscribed(n.Channel)
	case "entry":
		log.entry(n.Channel, n.Offset, data)
	case "message":
		log.message(data)
	}
}
