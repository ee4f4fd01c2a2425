package webpush

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// crowd is a Store and a Presence in memory, and the publisher behind the notifier. Every user has one subscription.
type crowd struct {
	chat.Publisher
	chat.Presence

	mu      sync.Mutex
	rooms   map[string]chat.Room
	members map[string][]string // by room, without those that have silenced it
	read    map[string]int64    // by user
	online  map[string]bool
	blocks  map[string][]string // by user: which users have blocked that user
	fault   error
	lookups int // of rooms
	passed  int // entries that were passed on
}

func (c *crowd) Entry(chat.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed++
}

func (c *crowd) Room(_ context.Context, room string) (chat.Room, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lookups++
	return c.rooms[room], c.fault
}

func (c *crowd) Subscriptions(_ context.Context, a chat.Audience) (subs []chat.Subscription, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, user := range slices.Sorted(slices.Values(c.members[a.Room])) {
		if (len(a.Of) == 0 || slices.Contains(a.Of, user)) && c.read[user] < a.Seq && user > a.After.User && len(subs) < a.Limit {
			subs = append(subs, chat.Subscription{User: user})
		}
	}
	return subs, c.fault
}

func (c *crowd) Blockers(_ context.Context, user string, of []string) (blockers []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, blocker := range c.blocks[user] {
		if slices.Contains(of, blocker) {
			blockers = append(blockers, blocker)
		}
	}
	return blockers, c.fault
}

func (c *crowd) DeleteSubscription(context.Context, chat.Subscription) error { return nil }

func (c *crowd) Online(_ context.Context, users []string) (has []bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, user := range users {
		has = append(has, c.online[user])
	}
	return has, c.fault
}

func (c *crowd) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// testNotifier is a running notifier over a crowd. What it sends is recorded as texts like "ann packet Bob in Tea x2".
type testNotifier struct {
	*Notifier
	*crowd
	t    *testing.T
	sent []string // guarded by crowd.mu
	last note
	seq  int64
}

// withNotifier runs f with a notifier, in a bubble of synthetic time. The room tea has the members ann, bob and cyn; ab is a direct room.
func withNotifier(t *testing.T, f func(n *testNotifier)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{
			rooms:   map[string]chat.Room{"tea": {ID: "tea", Name: "Tea", Kind: chat.Private}, "ab": {ID: "ab", Kind: chat.Direct}},
			members: map[string][]string{"tea": {"ann", "bob", "cyn"}, "ab": {"ann", "bob"}}, read: map[string]int64{}, online: map[string]bool{},
		}
		n := &testNotifier{crowd: c, t: t}
		n.Notifier = New(c, Options{Store: c, Presence: c, Log: slog.New(slog.DiscardHandler)})
		n.send = func(_ context.Context, to chat.Subscription, it note) {
			var p Payload
			if err := json.Unmarshal(it.payload, &p); err != nil || len(it.payload) > mostPayload {
				t.Errorf("payload %s: %v", it.payload, err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			n.last = it
			n.sent = append(n.sent, strings.TrimSpace(fmt.Sprintf("%s %s %s in %s x%d", to.User, p.Why, p.From, cmp.Or(p.Name, "-"), p.Count)))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { n.Run(ctx) })
		defer running.Wait()
		defer cancel()
		f(n)
	})
}

// says publishes an entry of the user. body may be nil.
func (n *testNotifier) says(room, user string, kind chat.EntryKind, body any) {
	n.t.Helper()
	data, err := chat.Body(body)
	if err != nil {
		n.t.Fatal(err)
	}
	n.seq++
	n.Entry(chat.Entry{Room: room, Seq: n.seq, From: chat.User{ID: user, Name: strings.ToUpper(user[:1]) + user[1:]}, Kind: kind, Body: data})
}

// wants waits some time and compares what was sent since the last call, in any order.
func (n *testNotifier) wants(after time.Duration, want ...string) {
	n.t.Helper()
	time.Sleep(after)
	synctest.Wait()
	n.change(func() {
		slices.Sort(n.sent)
		slices.Sort(want)
		if !slices.Equal(n.sent, want) {
			n.t.Errorf("sent %q, want %q", n.sent, want)
		}
		n.sent = nil
	})
}

// Entry resolves the ambiguity: the notifier, and not the publisher behind it.
func (n *testNotifier) Entry(e chat.Entry) { n.Notifier.Entry(e) }

func (n *testNotifier) mentions(room, from string, users ...string) {
	n.says(room, from, chat.KindText, chat.Text{Text: "psst", Mentions: users})
}

const soon = gather + 2*tickEvery

func TestUsersWithoutSocketAreToldOfNews(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		n.change(func() { n.online["cyn"] = true })
		n.says("tea", "ann", chat.KindText, chat.Text{Text: "no news"})
		n.says("tea", "ann", chat.KindRecall, nil)
		n.wants(soon)
		n.mentions("tea", "ann", "bob", "cyn", "ann", "stranger")
		n.wants(soon, "bob mention Ann in Tea x1")
		n.says("ab", "ann", chat.KindText, chat.Text{Text: "hi"})
		n.wants(soon, "bob direct Ann in - x1")
		n.says("tea", "bob", chat.KindPacket, map[string]any{"expires_at": time.Now().Add(time.Hour).UnixMilli()})
		n.wants(soon, "ann packet Bob in Tea x1")
		if n.last.ttl > time.Hour || n.last.ttl < time.Hour-2*soon || len(n.last.topic) != 32 {
			t.Errorf("the notification of a packet that ends in an hour is %+v", n.last)
		}
		n.says("tea", "ann", chat.KindText, chat.Text{Text: "psst", MentionAll: true, Mentions: []string{"bob"}})
		n.wants(quiet+soon, "bob mention Ann in Tea x1")
		n.change(func() {
			if n.passed != 6 {
				t.Errorf("%d of 6 entries were passed on", n.passed)
			}
		})
	})
}

// TestBlockedSenderIsNoNews sends packets to a room in which one user has blocked the sender. That user must get no notification, as the user
// gets no event (chat.WithoutBlockers), and the others must.
func TestBlockedSenderIsNoNews(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		n.change(func() { n.blocks = map[string][]string{"ann": {"bob"}} })
		n.says("tea", "ann", chat.KindPacket, map[string]any{})
		n.wants(soon, "cyn packet Ann in Tea x1")
		n.says("tea", "ann", chat.KindPacket, map[string]any{"to": []string{"bob"}})
		n.wants(soon)
		n.says("tea", "cyn", chat.KindPacket, map[string]any{"to": []string{"bob"}})
		n.wants(quiet+soon, "bob packet Cyn in Tea x1")
	})
}

// TestMergedNewsAreJudgedBySender merges packets of several senders. Each user must be told of the newest packet of a user that is neither
// themselves nor blocked by them, and only such packets count.
func TestMergedNewsAreJudgedBySender(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		n.change(func() { n.blocks = map[string][]string{"ann": {"bob"}} })
		n.says("tea", "cyn", chat.KindPacket, map[string]any{})
		n.says("tea", "ann", chat.KindPacket, map[string]any{})
		n.wants(quiet+soon, "ann packet Cyn in Tea x1", "bob packet Cyn in Tea x1", "cyn packet Ann in Tea x1")
		n.says("tea", "ann", chat.KindPacket, map[string]any{})
		n.says("tea", "cyn", chat.KindPacket, map[string]any{})
		n.wants(quiet+soon, "ann packet Cyn in Tea x1", "bob packet Cyn in Tea x1", "cyn packet Ann in Tea x1")
		n.mentions("tea", "cyn", "bob")
		n.mentions("tea", "ann", "bob")
		n.wants(quiet+soon, "bob mention Cyn in Tea x1")
	})
}

func TestPacketForSomeIsNewsForThem(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		n.says("tea", "ann", chat.KindPacket, map[string]any{"to": []string{"cyn", "ann"}})
		n.wants(soon, "cyn packet Ann in Tea x1")
		n.says("tea", chat.LobbyHost, chat.KindPacket, map[string]any{})
		n.says("tea", "bob", chat.KindPacket, map[string]any{"expires_at": time.Now().Add(time.Second).UnixMilli()}) // ends before users are told
		n.wants(soon)
	})
}

// TestBusyRoomCostsFewNotifications sends 500 direct messages and as many mentions within two minutes. A user must be told at once, and then once
// a minute of all that came.
func TestBusyRoomCostsFewNotifications(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		for range 500 {
			n.says("ab", "ann", chat.KindText, chat.Text{Text: "hi"})
			n.mentions("tea", "ann", "cyn")
			time.Sleep(2 * quiet / 500)
		}
		n.wants(2*quiet, "bob direct Ann in - x9", "bob direct Ann in - x250", "bob direct Ann in - x241",
			"cyn mention Ann in Tea x9", "cyn mention Ann in Tea x250", "cyn mention Ann in Tea x241")
		n.change(func() {
			if n.lookups > 2+6 {
				t.Errorf("%d look-ups of rooms for 1000 messages", n.lookups)
			}
		})
		n.Notifier.mu.Lock()
		defer n.Notifier.mu.Unlock()
		if len(n.topics) != 0 {
			t.Errorf("%d topics are kept", len(n.topics))
		}
	})
}

// TestSocketOfClientThatIsGone has users with a socket when they should be told. A minute later one has no socket any more, one has read the
// message and left, one still has a socket.
func TestSocketOfClientThatIsGone(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		n.change(func() {
			n.members["tea"] = append(n.members["tea"], "dan")
			n.online["bob"], n.online["cyn"], n.online["dan"] = true, true, true
		})
		n.mentions("tea", "ann", "bob", "cyn", "dan")
		n.wants(soon)
		n.change(func() {
			n.online["bob"], n.online["cyn"] = false, false
			n.read["cyn"] = n.seq
		})
		n.wants(quiet, "bob mention Ann in Tea x1")
		n.change(func() { n.online["dan"] = false })
		n.wants(3 * quiet)
	})
}

// TestLargeRoomIsToldPageByPage also has a sender among the members. The sender must not be told.
func TestLargeRoomIsToldPageByPage(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		var want []string
		n.change(func() {
			n.members["tea"] = nil
			for i := range 2*pageSize + 1 {
				user := fmt.Sprintf("user%05d", i)
				n.members["tea"] = append(n.members["tea"], user)
				if i == 7 {
					continue
				}
				want = append(want, user+" packet User00007 in Tea x1")
			}
		})
		n.says("tea", "user00007", chat.KindPacket, map[string]any{})
		n.wants(soon, want...)
	})
}

// TestStuckStoreBlocksNoSender lets the store fail and fills the queue. Entry must return at once, and what does not fit must be counted.
func TestStuckStoreBlocksNoSender(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		n.change(func() { n.fault = errors.New("no answer") })
		n.mentions("tea", "ann", "bob")
		n.wants(soon)
		if got := n.Stats().Dropped; got != 1 {
			t.Errorf("dropped %d, want 1", got)
		}
		n.change(func() { n.fault = nil })
		n.mentions("tea", "ann", "bob")
		n.wants(soon, "bob mention Ann in Tea x1")
	})
	n := New(&crowd{}, Options{}) // it does not run
	began := time.Now()
	for range mostNews + 10 {
		n.Entry(chat.Entry{Room: "tea", Kind: chat.KindPacket})
	}
	if got := n.Stats().Dropped; got != 10 || time.Since(began) > time.Minute {
		t.Errorf("dropped %d after %s, want 10", got, time.Since(began))
	}
}

// TestTopicsAreBounded mentions more users than there may be topics.
func TestTopicsAreBounded(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		const each = 50
		for i := range mostTopics/each + 2 {
			users := make([]string, each)
			for j := range users {
				users[j] = fmt.Sprint("u", i*each+j)
			}
			n.mentions("tea", fmt.Sprint("sender", i), users...)
			if i%1000 == 0 {
				synctest.Wait()
			}
		}
		n.wants(soon)
		if got := n.Stats().Dropped; got != 2*each {
			t.Errorf("dropped %d, want %d", got, 2*each)
		}
	})
}

// TestOneUserFillsNoMoreThanItsOwnTopics mentions very many ids by one user. Users that others mention must be told.
func TestOneUserFillsNoMoreThanItsOwnTopics(t *testing.T) {
	withNotifier(t, func(n *testNotifier) {
		for i := range mostOfUser + 10 {
			n.mentions("tea", "mallory", fmt.Sprint("nobody", i))
		}
		synctest.Wait()
		if got := n.Stats().Dropped; got != 10 {
			t.Errorf("dropped %d, want 10", got)
		}
		n.mentions("tea", "ann", "bob")
		synctest.Wait()
		if got := n.Stats().Dropped; got != 10 {
			t.Errorf("dropped %d after another user's mention, want 10", got)
		}
		time.Sleep(2 * quiet)
		synctest.Wait()
		n.mentions("tea", "mallory", "bob")
		synctest.Wait()
		if got := n.Stats().Dropped; got != 10 {
			t.Errorf("dropped %d when the topics had ended, want 10", got)
		}
	})
}
