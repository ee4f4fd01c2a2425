package sdk

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// serverKilled: the server is killed and started again. A client must reconnect and recover all entries that were sent
// meanwhile.
func (f *fixture) serverKilled() {
	room := f.room("ann", "public", "bob")
	bob := f.connect("bob")
	f.say("ann", room, texts(3)...)
	bob.await(1, "entry", room, 3)
	f.server.Kill()
	f.balancer.OnlyTo()
	f.start()
	f.balancer.OnlyTo()
	f.say("ann", room, texts(30)...)
	f.restore()
	bob.await(1, "subscribed", room, "recovered")
	f.say("ann", room, "after")
	bob.mustHaveAll(room)
	bob.mustEndWith(room, fmt.Sprint("entry ", room, " 33"), fmt.Sprint("entry ", room, " 34"))
}

// serverDrained: a server stops gracefully and closes its clients with a code. A client that reconnects to the next
// server must have missed nothing.
func (f *fixture) serverDrained() {
	room := f.room("ann", "public", "bob")
	bob := f.connect("bob")
	f.say("ann", room, texts(3)...)
	f.server.Stop()
	bob.await(1, "reconnecting", wire.CloseDrain)
	f.start()
	f.say("ann", room, texts(3)...)
	bob.await(1, "subscribed", room, "recovered")
	bob.mustHaveAll(room)
}

// tooManyToRecover: more than 500 missed entries are not recovered. History has them.
func (f *fixture) tooManyToRecover() { f.tooMuchToRecover(texts(501)) }

// tooLargeToRecover: more than 256 KiB of missed entries are not recovered either.
func (f *fixture) tooLargeToRecover() {
	many := texts(300)
	for i := range many {
		many[i] = strings.Repeat("x", 1000)
	}
	f.tooMuchToRecover(many)
}

func (f *fixture) tooMuchToRecover(missed []string) {
	room, other := f.room("ann", "public", "bob"), f.room("ann", "public", "bob")
	bob := f.connect("bob")
	f.say("ann", room, "heard")
	f.say("ann", other, "heard")
	bob.await(1, "entry", room, 1)
	bob.await(1, "entry", other, 1)
	f.cutOff()
	f.say("ann", other, "missed")
	f.say("ann", room, missed...)
	f.restore()
	bob.await(1, "subscribed", room, "lost")
	bob.await(1, "subscribed", other, "recovered")
	f.say("ann", room, "live")
	bob.await(1, "entry", other, 2)
	bob.mustEndWith(other, fmt.Sprint("subscribed ", other, " recovered"), fmt.Sprint("entry ", other, " 2"))
	bob.mustHaveAll(room)
	bob.mustHaveAll(other)
	bob.mustNotHave("entry", room, 2)
}

// slow: the server closes a client that does not read. If the client reads again in time, it sees the close code, reconnects, and
// has missed nothing.
func (f *fixture) slow() {
	room := f.room("ann", "public", "bob")
	bob := f.open("bob", options{server: f.server})
	bob.await(1, "subscribed", room)
	resume := bob.stall()
	defer resume()
	var enough atomic.Bool
	var all sync.WaitGroup
	for w := range 4 { // more bytes than the server and the kernel buffer
		all.Go(func() {
			for i := 0; i < 300 && !enough.Load(); i++ {
				f.command("ann", "send", wire.SendRequest{Room: room, Key: fmt.Sprintf("large-%d-%d", w, i), Text: strings.Repeat("🧧", 4000)})
			}
		})
	}
	e2e.Eventually(f.t, 60*time.Second, "the server counts bob as slow", func() bool { return f.server.HasMetric("hongbao_slow_total 1") })
	resume() // at once: a few seconds later the server would cut the connection without a close frame
	enough.Store(true)
	all.Wait()
	bob.await(1, "reconnecting", wire.CloseTooSlow)
	bob.await(2, "connected")
	f.say("ann", room, "after")
	bob.mustHaveAll(room)
}

// repeatedRequest: a text that is sent again because the reply was lost is stored once.
func (f *fixture) repeatedRequest() {
	room := f.room("ann", "public")
	ann := f.connect("ann")
	request := wire.SendRequest{Room: room, Key: "once", Text: "once"}
	first := replyOf[wire.SendReply](ann, "send", request)
	f.cutOff()
	ann.await(1, "reconnecting", 1)
	f.restore()
	ann.await(2, "connected")
	again := replyOf[wire.SendReply](ann, "send", request)
	if !again.Dup || again.Seq != first.Seq || again.ID != first.ID || again.At != first.At {
		f.t.Errorf("a text is answered %+v, repeated %+v; want dup, and the same seq, id and time", first, again)
	}
	if history := ann.history(room, 0, e2e.All); len(history) != 1 {
		f.t.Errorf("the room has %d entries, want 1", len(history))
	}
}

// texts returns n different texts.
func texts(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("text ", i, " of ", time.Now().Format(time.TimeOnly)))
	}
	return all
}
