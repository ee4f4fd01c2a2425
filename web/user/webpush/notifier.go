package webpush

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hongbao/chat"
)

// Bounds of a Notifier.
const (
	mostNews   = 4096             // entries that wait for collect
	mostTopics = 10_000           // topics whose news wait, or that are quiet
	mostOfUser = 200              // of these, topics that one user but the system has begun: a text may mention ids that do not exist
	mostRooms  = 20_000           // rooms whose kind is remembered
	mostFrom   = 8                // senders whose news a topic tells apart: of more, those with the oldest news are left out
	mostAgain  = 1000             // users of a topic that are looked at again
	pageSize   = 500              // subscriptions of one read
	atOnce     = 4                // topics that are handled concurrently
	readTime   = 5 * time.Second  // limit on reading a room, or one page of subscriptions with the presence of their users
	keptFor    = 24 * time.Hour   // how long push services keep a notification for a browser that is offline
	gather     = 2 * time.Second  // how long news wait for more news of the topic, and for a user that only reconnects
	quiet      = 60 * time.Second // pause after notifications of a topic; longer than the hub needs to notice that a client is gone
	tickEvery  = 500 * time.Millisecond
)

// Store is what the package needs of chat.Store.
type Store interface {
	Room(ctx context.Context, room string) (chat.Room, error)
	Subscriptions(ctx context.Context, a chat.Audience) ([]chat.Subscription, error)
	DeleteSubscription(ctx context.Context, sub chat.Subscription) error
	chat.BlockerStore
}

// Options of a Notifier. All fields but Allowed, Log, Timeout and HTTP are required.
type Options struct {
	Keys     Keys
	Contact  string   // mail address or https:// of the operator, for the push services
	Allowed  []string // hosts that may have private addresses, other ports than 443, and plain HTTP
	Store    Store
	Presence chat.Presence
	Log      *slog.Logger

	Timeout time.Duration // of one request to a push service; default 10 s
	HTTP    *http.Client  // sends the requests; nil: a client that reaches only public and allowed addresses
}

// Notifier is a publisher that passes everything on, and sends notifications of news to users without a socket. It is safe for
// concurrent use.
type Notifier struct {
	chat.Publisher

	// static
	o      Options
	queue  chan news
	sender *sender
	send   func(context.Context, chat.Subscription, note) // sender.send; tests replace it

	dropped atomic.Int64

	mu     sync.Mutex
	topics map[topicKey]*topic
	made   map[string]int  // by user: number of topics that the user has begun
	direct map[string]bool // by room: whether it is a direct room
}

// news is an entry of which users may get a notification.
type news struct {
	room    string
	seq     int64
	from    chat.User
	why     string // packet, mention or direct; in the queue: the kind of the entry, packet or text
	expires time.Time
	body    []byte
}

// topicKey names news that are merged: those of a room for all members, for one user, or from one user of a direct room.
type topicKey struct{ room, of, from string }

// topic holds the news since its last notifications, and the users that these notifications left out.
type topic struct {
	from []fromOne // the news of each sender, those with the newest news last; empty: there are none
	by   string    // the user that has begun the topic
	due  time.Time // when notifications are sent, or the topic is forgotten

	again    []string  // users that the last notifications left out, because they had a socket; at due they may have none
	sentNews []fromOne // the news of the last notifications
}

// fromOne is what one sender has sent to a topic.
type fromOne struct {
	last  news // the newest
	count int
}

// New returns a Notifier that passes on to next. It sends no notification before Run.
func New(next chat.Publisher, o Options) *Notifier {
	o.Timeout, o.Log = cmp.Or(o.Timeout, requestTimeout), cmp.Or(o.Log, slog.Default())
	s := newSender(o)
	return &Notifier{
		Publisher: next, o: o, queue: make(chan news, mostNews), sender: s, send: s.send, topics: map[topicKey]*topic{}, made: map[string]int{}, direct: map[string]bool{},
	}
}

// Key returns the public key that browsers need to subscribe.
func (n *Notifier) Key() string { return n.o.Keys.Public }

// CheckEndpoint returns an error unless the endpoint has a scheme, host and port to which notifications may be sent. It does not
// check the address behind the host name: that happens for each connection.
func (n *Notifier) CheckEndpoint(endpoint string) error {
	if _, err := n.o.hostOf(endpoint); err != nil {
		return chat.BadField("endpoint", "must have https and port 443")
	}
	return nil
}

// Stats returns the number of notifications so far, by outcome. An entry that did not fit into a queue counts as one dropped
// notification. So does a topic whose notifications were not sent because the store or the presence directory failed.
func (n *Notifier) Stats() Stats {
	s := n.sender.stats()
	s.Dropped += n.dropped.Load()
	return s
}

var mentionsField, mentionAllField = []byte(`"mentions":[`), []byte(`"mention_all":true`)

// Entry implements chat.Publisher.
func (n *Notifier) Entry(e chat.Entry) {
	n.Publisher.Entry(e)
	if !e.Kind.Content() || e.From.ID == chat.LobbyHost { // the welcome packet is for newcomers, and they are in the lobby already
		return
	}
	found := news{room: e.Room, seq: e.Seq, from: e.From, why: string(e.Kind), body: e.Body}
	if e.Kind == chat.KindText && !bytes.Contains(e.Body, mentionsField) && !bytes.Contains(e.Body, mentionAllField) {
		if direct, known := n.isDirect(e.Room); known && !direct {
			return
		}
		found.body = nil
	}
	select {
	case n.queue <- found:
	default:
		n.dropped.Add(1)
	}
}

func (n *Notifier) isDirect(room string) (direct, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	direct, known = n.direct[room]
	return direct, known
}

// Run sends notifications until ctx ends. News that still wait then are dropped.
func (n *Notifier) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { n.collect(ctx) })
	both.Go(func() { n.deliver(ctx) })
	both.Wait()
}

// collect puts the news from the queue into topics.
func (n *Notifier) collect(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case found := <-n.queue:
			n.sort(ctx, found)
		}
	}
}

func (n *Notifier) sort(ctx context.Context, found news) {
	direct, known := n.isDirect(found.room)
	if !known {
		ctx, cancel := context.WithTimeout(ctx, readTime)
		room, err := n.o.Store.Room(ctx, found.room)
		cancel()
		if err != nil {
			n.drop(found.room, err)
			return
		}
		direct = room.Kind == chat.Direct
		n.remember(found.room, direct)
	}
	var body struct {
		To         []string `json:"to"`         // of a packet
		ExpiresAt  int64    `json:"expires_at"` // of a packet
		Mentions   []string `json:"mentions"`
		MentionAll bool     `json:"mention_all"`
	}
	if found.body != nil && json.Unmarshal(found.body, &body) != nil {
		return
	}
	found.body = nil
	if body.ExpiresAt > 0 {
		found.expires = time.UnixMilli(body.ExpiresAt)
	}
	of := body.To
	switch {
	case found.why == string(chat.KindPacket):
		if len(of) == 0 {
			n.add(topicKey{room: found.room}, found)
		}
	case direct:
		found.why = "direct"
		n.add(topicKey{room: found.room, from: found.from.ID}, found)
	case body.MentionAll:
		found.why = "mention"
		n.add(topicKey{room: found.room}, found)
	default:
		found.why, of = "mention", body.Mentions
	}
	for _, user := range of {
		if user != found.from.ID {
			n.add(topicKey{room: found.room, of: user}, found)
		}
	}
}

// remember records the kind of a room, which never changes. If too many are remembered, one of them is forgotten.
func (n *Notifier) remember(room string, direct bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.direct) >= mostRooms {
		for other := range n.direct {
			delete(n.direct, other)
			break
		}
	}
	n.direct[room] = direct
}

func (n *Notifier) add(key topicKey, found news) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.topics[key]
	switch {
	case t == nil && (len(n.topics) >= mostTopics || n.made[found.from.ID] >= mostOfUser && found.from.ID != chat.System.ID):
		n.dropped.Add(1)
		return
	case t == nil:
		t = &topic{due: time.Now().Add(gather), by: found.from.ID}
		n.topics[key] = t
		n.made[t.by]++
	}
	t.add(found)
}

// add adds news to those of their sender.
func (t *topic) add(found news) {
	i := slices.IndexFunc(t.from, func(f fromOne) bool { return f.last.from.ID == found.from.ID })
	if i < 0 {
		t.from, i = append(t.from, fromOne{last: found}), len(t.from)
	}
	t.from[i].count++
	if found.seq > t.from[i].last.seq {
		t.from[i].last = found
	}
	slices.SortFunc(t.from, func(a, b fromOne) int { return cmp.Compare(a.last.seq, b.last.seq) })
	t.from = t.from[max(0, len(t.from)-mostFrom):]
}

// deliver sends the notifications of the topics that are due.
func (n *Notifier) deliver(ctx context.Context) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var group errgroup.Group
		group.SetLimit(atOnce)
		for key, t := range n.due() {
			group.Go(func() error {
				n.tell(ctx, key, t)
				return nil
			})
		}
		_ = group.Wait() // the functions return no error
	}
}

// due returns copies of the topics that are due, makes these topics quiet, and forgets those without any news.
func (n *Notifier) due() map[topicKey]topic {
	n.mu.Lock()
	defer n.mu.Unlock()
	now, due := time.Now(), map[topicKey]topic{}
	for key, t := range n.topics {
		if now.Before(t.due) {
			continue
		}
		if len(t.from) == 0 && len(t.again) == 0 {
			delete(n.topics, key)
			if n.made[t.by]--; n.made[t.by] == 0 {
				delete(n.made, t.by)
			}
			continue
		}
		due[key] = *t
		*t = topic{by: t.by, due: now.Add(quiet)}
	}
	return due
}

// tell sends notifications of a topic's news to those users of the topic that have no socket. A user is told of the newest news of a
// sender that is not the user, and that the user has not blocked. tell looks at users with a socket, at most mostAgain of them, again after the quiet period: their
// client may be gone without the hub having noticed. If they have no socket then, and have not read the entry, they get the notification.
func (n *Notifier) tell(ctx context.Context, key topicKey, t topic) {
	isNew, left := len(t.from) > 0, []string(nil) // the users that no sender's news were for yet; empty: all of the room
	if isNew {
		t.sentNews = t.from
	} else {
		left = t.again
	}
	if key.of != "" {
		left = []string{key.of}
	}
	t.sentNews = slices.DeleteFunc(slices.Clone(t.sentNews), func(f fromOne) bool { return f.last.ttl() < time.Second }) // the packet has ended
	var online []string
	for senders := t.sentNews; len(senders) > 0; senders = senders[:len(senders)-1] {
		audience := chat.Audience{Room: key.room, Seq: senders[len(senders)-1].last.seq, Of: left, Now: time.Now(), Limit: pageSize}
		left = nil
		for more := true; more; {
			page, err := n.tellPage(ctx, &audience, senders)
			if err != nil {
				n.drop(key.room, err)
				return
			}
			more, online, left = page.more, append(online, page.online...), append(left, page.left...)
		}
		if len(left) == 0 {
			break
		}
	}
	if isNew && len(online) > 0 {
		n.lookAgain(key, online[:min(len(online), mostAgain)], t.sentNews)
	}
}

// ttl returns how long push services keep a notification of the news. It is below a second if their packet has ended.
func (f news) ttl() time.Duration {
	if f.expires.IsZero() {
		return keptFor
	}
	return min(keptFor, time.Until(f.expires))
}

// lookAgain makes the topic send notifications to these users when it is due, if they have no socket any more.
func (n *Notifier) lookAgain(key topicKey, users []string, told []fromOne) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := n.topics[key]; t != nil {
		t.again, t.sentNews = users, told
	}
}

// page is what tellPage found about the users of one page.
type page struct {
	more   bool     // there are more pages
	online []string // have a socket
	left   []string // are the last sender, or have blocked it
}

// tellPage tells the users of one page of the audience of the last sender's news, if they have no socket, and moves the audience to the
// next page.
func (n *Notifier) tellPage(ctx context.Context, a *chat.Audience, senders []fromOne) (p page, err error) {
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	subs, err := n.o.Store.Subscriptions(reading, *a)
	if err != nil || len(subs) == 0 {
		return p, err
	}
	p.more, a.After = len(subs) == a.Limit, subs[len(subs)-1]
	var users []string // each once: subscriptions are in the order of users
	for _, s := range subs {
		if len(users) == 0 || users[len(users)-1] != s.User {
			users = append(users, s.User)
		}
	}
	counts, told, err := n.count(reading, senders, users)
	if err != nil {
		return p, err
	}
	p.left = slices.DeleteFunc(slices.Clone(users), func(user string) bool { return slices.Contains(told, user) })
	has, err := n.o.Presence.Online(reading, told)
	if err != nil {
		return p, err
	}
	for i, user := range told {
		if has[i] {
			p.online = append(p.online, user)
		}
	}
	last, payloads := senders[len(senders)-1].last, map[int][]byte{}
	for _, s := range subs {
		if slices.Contains(p.left, s.User) || slices.Contains(p.online, s.User) {
			continue
		}
		count := counts[s.User]
		if payloads[count] == nil {
			if payloads[count], err = n.payload(ctx, last, count); err != nil {
				return p, err
			}
		}
		n.send(ctx, s, note{payload: payloads[count], ttl: last.ttl(), topic: topicName(s.User, a.Room)})
	}
	return p, nil
}

// count returns how many of the news are for each of the users: not those that the user has sent, or whose sender the user has blocked. told
// are the users whom the news of the last sender are for.
func (n *Notifier) count(ctx context.Context, senders []fromOne, users []string) (counts map[string]int, told []string, err error) {
	counts = map[string]int{}
	for _, f := range senders {
		if told, err = chat.WithoutBlockers(ctx, n.o.Store, f.last.from.ID, users); err != nil {
			return nil, nil, err
		}
		told = slices.DeleteFunc(slices.Clone(told), func(user string) bool { return user == f.last.from.ID })
		for _, user := range told {
			counts[user] += f.count
		}
	}
	return counts, told, nil
}

// topicName returns the topic of a notification for the push service. The service replaces a notification that it keeps by a
// newer one of the same topic. The name reveals neither user nor room.
func topicName(user, room string) string {
	sum := sha256.Sum256([]byte(user + "\x00" + room))
	return base64url(sum[:24])
}

// Payload is the content of a notification, which the page's service worker reads. It holds no text of a message.
type Payload struct {
	Room  string `json:"room"`
	Name  string `json:"name,omitempty"` // of the room; a direct room has none
	Why   string `json:"why"`            // packet, mention or direct
	From  string `json:"from"`           // name of the last sender, or the id without a name; "": it is too long
	Count int    `json:"count,omitempty"`
}

func (n *Notifier) payload(ctx context.Context, last news, count int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	room, err := n.o.Store.Room(ctx, last.room)
	if err != nil {
		return nil, err
	}
	p := Payload{Room: room.ID, Name: room.Name, Why: last.why, From: cmp.Or(last.from.Name, last.from.ID), Count: count}
	data, err := json.Marshal(p)
	if err == nil && len(data) > mostPayload {
		p.Name, p.From = "", ""
		data, err = json.Marshal(p)
	}
	if err != nil {
		return nil, fmt.Errorf("make payload: %w", err)
	}
	return data, nil
}

func (n *Notifier) drop(room string, err error) {
	n.dropped.Add(1)
	n.o.Log.Debug("news not told", "room", room, "err", err)
}
