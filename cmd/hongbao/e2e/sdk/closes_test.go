package sdk

import (
	"errors"
	"strings"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// tooBigFrame: a client sends a frame over the limit, which ends its connection. SDKs report code 3, and some of them
// reconnect.
func (f *fixture) tooBigFrame() {
	f.room("ann", "public")
	ann := f.connect("ann")
	_, err := ann.call("wallet", e2e.JSON(map[string]string{"unknown": strings.Repeat("x", wire.FrameBytes)}))
	var refused wire.Error
	if err == nil || errors.As(err, &refused) {
		f.t.Errorf("a frame over the limit was answered (error %v), want the connection to end", err)
	}
	if !f.sdk.reconnectsAfterTooBig() {
		ann.await(1, "disconnected", 3)
		return
	}
	ann.await(1, "reconnecting", 3)
	ann.await(2, "connected")
}

// silent: a client answers no ping, so the server closes its connection. When the client reads again, it must see the
// close code, reconnect, and have missed nothing. A client that answers an old ping first writes into a closed connection, and may learn
// only that the connection is broken.
func (f *fixture) silent() {
	room := f.room("ann", "public", "bob")
	bob := f.open("bob", options{server: f.server})
	bob.await(1, "subscribed", room)
	resume := bob.stall()
	defer resume()
	f.say("ann", room, "unheard")
	e2e.Eventually(f.t, 60*time.Second, "the server has closed a socket with code 3012", func() bool {
		return f.server.HasMetric(`hongbao_closes_total{code="3012"} 1`)
	})
	resume()
	bob.awaitOneOf(eventText("reconnecting", wire.CloseNoPong), eventText("reconnecting", 1))
	bob.await(2, "connected")
	f.say("ann", room, "after")
	bob.mustHaveAll(room)
}
