package pgstore

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/storetest"
)

// crowd is many who all at once do to one room whatever they may, and much that they may not.
type crowd struct {
	*testing.T
	all   []*Store // several instances
	users []string
	log   *lockedBuffer
}

const crowdSize = 7

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{T: t, log: &lockedBuffer{}}
	url := storetest.Database(t)
	log := slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for range 2 {
		s, err := Open(t.Context(), url, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { must(t, s.Close()) })
		c.all = append(c.all, s)
	}
	furnish(t, c.all[0])
	_, _, err := c.all[0].Append(t.Context(), text(0))
	must(t, err)
	c.users = []string{"owner"}
	for u := 1; u < crowdSize; u++ {
		user := fmt.Sprint("user-", u)
		_, err := c.all[0].PutUser(t.Context(), chat.User{ID: user}, 0)
		must(t, err)
		c.users = append(c.users, user)
	}
	return c
}

// owner of the room, if there is one just now.
func (c *crowd) owner() (user string) {
	c.Helper()
	must(c.T, c.all[0].look(c.Context(), func(r reader) error {
		_, err := r.row(`select user_id from members where room_id = $1 and state = 'in' and role = 'owner'`, []any{room}, &user)
		return err
	}))
	return user
}

// does lets the user do something at random, or the owner in his name. A refusal is an answer.
func (c *crowd) does(random *rand.Rand, user, id string) {
	c.Helper()
	s, ctx, now := c.all[random.IntN(len(c.all))], c.Context(), time.Now()
	by, governor := chat.User{ID: user}, chat.User{ID: user}
	if random.IntN(3) > 0 {
		governor.ID = c.owner()
	}
	wants := chat.Change{
		Room: room, By: governor, Users: []string{c.users[random.IntN(len(c.users))]}, At: now,
		EntryIDs: []string{id + "a", id + "b", id + "c"}, MaxRooms: 9, MaxMembers: crowdSize - 1,
	}
	var err error
	switch random.IntN(12) {
	case 0, 1, 2:
		_, _, err = s.Join(ctx, chat.Joining{Room: room, User: user, At: now, MaxRooms: 9, MaxMembers: crowdSize - 1})
	case 3:
		_, err = s.Leave(ctx, chat.Leaving{Room: room, User: by, At: now, EntryIDs: [2]string{id + "a", id + "b"}})
	case 4:
		_, _, err = s.Append(ctx, chat.Draft{
			ID: id, Room: room, From: by, Kind: chat.KindText, Key: id, Hash: []byte("h"), Body: []byte(`{"text":"x"}`), At: now, ReplyTo: 1,
		})
	case 5:
		_, err = s.Amend(ctx, chat.Amendment{
			Kind: chat.KindReact, Room: room, Target: 1, By: by, Emoji: "👍", On: random.IntN(2) == 0, At: now, ID: id,
		})
	case 6:
		wants.Kind, wants.Users = chat.Invite, slices.Clone(c.users[:3])
		_, err = s.Change(ctx, wants)
	case 7:
		wants.Kind, wants.Role = chat.SetRole, chat.Owner
		_, err = s.Change(ctx, wants)
	case 8:
		wants.Kind, wants.Role = chat.SetRole, roles[random.IntN(3)]
		_, err = s.Change(ctx, wants)
	default:
		wants.Kind = []chat.ChangeKind{chat.Kick, chat.Kick, chat.Ban, chat.Unban, chat.Unban, chat.Unban, chat.Unban, chat.Mute}[random.IntN(8)]
		_, err = s.Change(ctx, wants)
	}
	if err != nil && (!refusal(err) || errors.Is(err, chat.ErrUnavailable)) {
		c.Error(err)
	}
}

// mills lets all do something, all the time, and looks at the room in between.
func (c *crowd) mills(turns int) (wait func()) {
	var wg sync.WaitGroup
	for u, user := range c.users {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(u), uint64(turns)))
			for n := range turns {
				c.does(random, user, fmt.Sprintf("%d-%d-%d", turns, u, n))
				counted(c.T, c.all[u%2])
			}
		})
	}
	return wg.Wait
}

// reacted wants the reactions that are counted to be those that are there, and the entries to have counted along.
func (c *crowd) reacted() {
	c.Helper()
	var n int
	must(c.T, c.all[0].look(c.Context(), func(r reader) error {
		_, err := r.row(`select count(*) from reactions`, nil, &n)
		return err
	}))
	es, _, err := c.all[0].History(c.Context(), room, chat.Page{After: new(int64), Limit: 10_000})
	must(c.T, err)
	var told int
	for _, e := range es {
		if e.Kind == chat.KindReact {
			told += map[bool]int{true: 1, false: -1}[bytes.Contains(e.Body, []byte(`"on":true`))]
			if !bytes.Contains(e.Body, fmt.Appendf(nil, `"count":%d}`, told)) {
				c.Errorf("%s, and %d had been told by then", e.Body, told)
			}
		}
	}
	want := ""
	if n > 0 {
		want = fmt.Sprintf(`"👍":%d`, n)
	}
	if !bytes.Contains(es[0].Body, []byte(want)) || told != n {
		c.Errorf("%d reactions, %d told, %s", n, told, es[0].Body)
	}
}

func (c *crowd) audited() {
	c.Helper()
	a, err := c.all[0].Audit(c.Context(), nil)
	if err != nil || len(a.Differences) > 0 {
		c.Errorf("%+v, %v", a.Differences, err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
