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
)

// concurrentUsers are users that change one room at the same time, through several stores. Many changes are
// forbidden.
type concurrentUsers struct {
	*testing.T
	all   []*Store // several instances
	users []string
	log   *lockedBuffer
}

const userCount = 7

func newConcurrentUsers(t *testing.T) *concurrentUsers {
	t.Helper()
	c := &concurrentUsers{T: t, log: &lockedBuffer{}}
	url := migratedDatabase(t) + soonDeadlocks
	log := slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for range 2 {
		s, err := Open(t.Context(), url, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { must(t, s.Close()) })
		c.all = append(c.all, s)
	}
	createTestRoom(t, c.all[0])
	_, _, err := c.all[0].Append(t.Context(), textDraft(0))
	must(t, err)
	c.users = []string{"owner"}
	for u := 1; u < userCount; u++ {
		user := fmt.Sprint("user-", u)
		_, _, err := c.all[0].PutUser(t.Context(), chat.Profile{User: chat.User{ID: user}}, 0)
		must(t, err)
		c.users = append(c.users, user)
	}
	return c
}

// owner returns the current owner of the room, or "".
func (c *concurrentUsers) owner() (user string) {
	c.Helper()
	must(c.T, c.all[0].withReader(c.Context(), func(r reader) error {
		_, err := r.Row(`select user_id from members where room_id = $1 and state = 'in' and role = 'owner'`, []any{room}, &user)
		return err
	}))
	return user
}

// actAtRandom makes a random call: either by the user, or by the room's owner about the user. A refusal is no
// failure.
func (c *concurrentUsers) actAtRandom(random *rand.Rand, user, id string) {
	c.Helper()
	s, ctx, now := c.all[random.IntN(len(c.all))], c.Context(), time.Now()
	by, actor := chat.User{ID: user}, chat.User{ID: user}
	if random.IntN(3) > 0 {
		actor.ID = c.owner()
	}
	change := chat.Change{
		Room: room, By: actor, Users: []string{c.users[random.IntN(len(c.users))]}, At: now,
		EntryIDs: []string{id + "a", id + "b", id + "c"}, MaxRooms: 9, MaxMembers: userCount - 1,
	}
	var err error
	switch random.IntN(12) {
	case 0, 1, 2:
		_, _, err = s.Join(ctx, chat.Joining{Room: room, User: user, At: now, MaxRooms: 9, MaxMembers: userCount - 1})
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
		change.Kind, change.Users = chat.Invite, slices.Clone(c.users[:3])
		_, err = s.Change(ctx, change)
	case 7:
		change.Kind, change.Role = chat.SetRole, chat.Owner
		_, err = s.Change(ctx, change)
	case 8:
		change.Kind, change.Role = chat.SetRole, []chat.Role{chat.Owner, chat.Admin, chat.Plain}[random.IntN(3)]
		_, err = s.Change(ctx, change)
	default:
		change.Kind = []chat.ChangeKind{chat.Kick, chat.Kick, chat.Ban, chat.Unban, chat.Unban, chat.Unban, chat.Unban, chat.Mute}[random.IntN(8)]
		_, err = s.Change(ctx, change)
	}
	if err != nil && (!chat.IsRequestError(err) || errors.Is(err, chat.ErrUnavailable)) {
		c.Error(err)
	}
}

// runAll starts all users. Each makes random calls and checks the room after each call. wait returns when all are
// done.
func (c *concurrentUsers) runAll(turns int) (wait func()) {
	var wg sync.WaitGroup
	for u, user := range c.users {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(u), uint64(turns)))
			for n := range turns {
				c.actAtRandom(random, user, fmt.Sprintf("%d-%d-%d", turns, u, n))
				wantMembersCounted(c.T, c.all[u%2])
			}
		})
	}
	return wg.Wait
}

// wantReactionsCounted checks that the counts in the column fold and in the returned entries match the table of
// reactions.
func (c *concurrentUsers) wantReactionsCounted() {
	c.Helper()
	var n int
	must(c.T, c.all[0].withReader(c.Context(), func(r reader) error {
		_, err := r.Row(`select count(*) from reactions`, nil, &n)
		return err
	}))
	es, _, err := c.all[0].History(c.Context(), room, chat.Page{After: new(int64), Limit: 10_000})
	must(c.T, err)
	var sum int
	for _, e := range es {
		if e.Kind == chat.KindReact {
			sum += map[bool]int{true: 1, false: -1}[bytes.Contains(e.Body, []byte(`"on":true`))]
			if !bytes.Contains(e.Body, fmt.Appendf(nil, `"count":%d}`, sum)) {
				c.Errorf("entry %s, want a count of %d", e.Body, sum)
			}
		}
	}
	want := ""
	if n > 0 {
		want = fmt.Sprintf(`"👍":%d`, n)
	}
	if !bytes.Contains(es[0].Body, []byte(want)) || sum != n {
		c.Errorf("%d reactions stored, %d by the entries, fold %s", n, sum, es[0].Body)
	}
}

func (c *concurrentUsers) wantAuditClean() {
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
