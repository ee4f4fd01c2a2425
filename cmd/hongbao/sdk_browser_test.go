package main

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

	"hongbao/web/webtest"
)

// centrifugeJS is the package centrifuge from npm, with one of its encodings, on a page in Chromium. All of its clients are
// on one page.
type centrifugeJS struct {
	t        *testing.T
	site     *sdkSite
	protobuf bool
	tab      *webtest.Tab

	mu      sync.Mutex
	sockets []*browserSocket // guarded by mu; their numbers are their places
}

func (c *centrifugeJS) comesBackFromTooBig() bool { return false }

func (c *centrifugeJS) open(o opening, d *diary) socket {
	c.t.Helper()
	s := &browserSocket{page: c, refresh: o.refresh, diary: d}
	c.mu.Lock()
	s.id = len(c.sockets)
	c.sockets = append(c.sockets, s)
	c.mu.Unlock()
	webtest.Ask[chromedp.Void](c.tab, fmt.Sprintf("driver.open(%s)", jsonText(map[string]any{
		"id": s.id, "url": o.at.socket(false), "token": o.token, "refreshes": o.refresh != nil, "bytes": c.protobuf,
		"patience": patience.Milliseconds(),
	})))
	return s
}

// ready opens the page. It is closed before the server that its clients are connected to.
func (c *centrifugeJS) ready() {
	c.t.Helper()
	c.tab = c.site.chromium.Tab(c.t, func(event any) {
		if e, ok := event.(*runtime.EventBindingCalled); ok && e.Name == "note" {
			c.note([]byte(e.Payload))
		}
	})
	c.tab.Do(
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, runtime.AddBinding, runtime.AddBindingParams{Name: "note"})
			return err
		}),
		chromedp.ExposeFunc("token", func(_ context.Context, id int) (nextToken, error) { return c.socket(id).nextToken(), nil }),
		chromedp.Navigate(c.site.page(c.protobuf)),
	)
}

func (c *centrifugeJS) socket(id int) *browserSocket {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sockets[id]
}

// nextToken is what a page gets when it asks for a token.
type nextToken struct {
	Token   string `json:"token"`
	Refused string `json:"refused"` // there will be none
	Error   string `json:"error"`   // not now
}

func (s *browserSocket) nextToken() nextToken {
	token, err := s.refresh()
	switch {
	case errors.Is(err, errNoToken):
		return nextToken{Refused: err.Error()}
	case err != nil:
		return nextToken{Error: err.Error()}
	}
	return nextToken{Token: token}
}

// note writes into the diary what a client has heard.
func (c *centrifugeJS) note(text []byte) {
	var n struct {
		ID                       int
		What, Channel, Data      string
		Code                     uint32
		Offset                   uint64
		WasRecovering, Recovered bool
	}
	if err := json.Unmarshal(text, &n); err != nil {
		c.t.Errorf("%.200s: %v", text, err)
		return
	}
	d := c.socket(n.ID).diary
	switch data := []byte(n.Data); n.What {
	case "up":
		d.up(data)
	case "again":
		d.again(n.Code)
	case "over":
		d.over(n.Code)
	case "in":
		d.in(n.Channel, n.Offset, data, n.WasRecovering, n.Recovered)
	case "out":
		d.out(n.Channel)
	case "entry":
		d.entry(n.Channel, n.Offset, data)
	case "message":
		d.message(data)
	}
}
