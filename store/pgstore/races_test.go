package pgstore

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
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
		_, err := c.all[0].PutUser(t.Context(), chat.User{ID: user})
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

// TestRoomIsGovernedAtOnce: whoever is put in and out, raised and kicked at the same time, there is one owner, the counts
// are right, and nobody waits for one who waits for him.
func TestRoomIsGovernedAtOnce(t *testing.T) {
	c := newCrowd(t)
	c.mills(60)()
	if strings.Contains(c.log.String(), "40P01") {
		t.Error("there were deadlocks: locks are not taken in order")
	}
	c.audited()
	c.reacted()
}

// TestRoomIsDeletedMeanwhile: then nobody is in it any more, and nobody comes in.
func TestRoomIsDeletedMeanwhile(t *testing.T) {
	c := newCrowd(t)
	wait := c.mills(40)
	await(t, c.all[0], `select exists (select 1 from members where state <> 'in') and (select last_seq > 20 from rooms)`)
	for deleted := false; !deleted; {
		made, err := c.all[0].Change(t.Context(), chat.Change{Kind: chat.DeleteRoom, Room: room, By: chat.User{ID: c.owner()}, At: time.Now()})
		if deleted = made.Changed; err != nil && (!refusal(err) || errors.Is(err, chat.ErrUnavailable)) {
			t.Fatal(err)
		}
	}
	wait()
	var left int
	must(t, c.all[0].look(t.Context(), func(r reader) error {
		_, err := r.row(`select count(*) from members where room_id = $1 and state <> 'gone'`, []any{room}, &left)
		return err
	}))
	r, err := c.all[0].Room(t.Context(), room)
	if err != nil || !r.Deleted || r.Members != 0 || left != 0 {
		t.Errorf("%+v, %d rows of those who are not gone, %v", r, left, err)
	}
	c.audited()
}

// TestPairsMeet: two who ask for each other at once, at two instances, get one room and are told once who came in.
func TestPairsMeet(t *testing.T) {
	c := newCrowd(t)
	meet := func(id string, pair []string) (room string, entered []string, entries []chat.Entry) {
		got := make([]chat.Paired, 2)
		var wg sync.WaitGroup
		for i, s := range c.all {
			wg.Go(func() {
				var err error
				got[i], err = s.Direct(t.Context(), chat.Pairing{
					ID: fmt.Sprint(id, i), Asker: chat.User{ID: pair[i]}, Other: pair[1-i], At: time.Now(),
					EntryIDs: [2]string{fmt.Sprint(id, i, "a"), fmt.Sprint(id, i, "b")}, MaxRooms: 9,
				})
				must(t, err)
			})
		}
		wg.Wait()
		if a, b := got[0].Membership, got[1].Membership; a.Room.ID != b.Room.ID || a.Room.Members != 2 || b.Room.Members != 2 {
			t.Errorf("%s: %+v and %+v", id, a, b)
		}
		return got[0].Membership.Room.ID, slices.Concat(got[0].Entered, got[1].Entered), slices.Concat(got[0].Entries, got[1].Entries)
	}
	for n := 1; n < len(c.users); n++ {
		id, pair := fmt.Sprint("first", n), c.users[n-1:n+1]
		theirs, entered, entries := meet(id, pair)
		if slices.Sort(entered); !slices.Equal(entered, pair) || entries != nil {
			t.Errorf("%q came in, %+v", entered, entries)
		}
		_, err := c.all[0].Leave(t.Context(), chat.Leaving{Room: theirs, User: chat.User{ID: pair[1]}, At: time.Now(), EntryIDs: [2]string{"left" + id, ""}})
		must(t, err)
		again, entered, entries := meet("again"+id, pair)
		if again != theirs || !slices.Equal(entered, pair[1:]) || len(entries) != 1 {
			t.Errorf("in %s, not %s: %q came back, %+v", again, theirs, entered, entries)
		}
	}
	c.audited()
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

// TestRecalledIsNowhere: not in the text, not in its edits, not in what has become of it.
func TestRecalledIsNowhere(t *testing.T) {
	s := furnished(t)
	d := text(1)
	d.Body = []byte(`{"text":"a secret"}`)
	_, _, err := s.Append(t.Context(), d)
	must(t, err)
	_, _, err = s.Append(t.Context(), text(2))
	must(t, err)
	edit, react, other := amendment(chat.KindEdit), amendment(chat.KindReact), amendment(chat.KindEdit)
	edit.Text, edit.ID, other.Target, other.ID = "another secret", "edit", 2, "other"
	for _, a := range []chat.Amendment{edit, react, other, amendment(chat.KindRecall)} {
		_, err := s.Amend(t.Context(), a)
		must(t, err)
	}
	var found []string
	must(t, s.look(t.Context(), func(r reader) error {
		found, err = rows(r, scanText, `select e::text from entries e where e::text like '%secret%' union all select r::text from reactions r`)
		return err
	}))
	if len(found) > 0 {
		t.Errorf("still there: %q", found)
	}
	es, _, err := s.History(t.Context(), room, chat.Page{After: new(int64), Limit: 9})
	must(t, err)
	var bodies []string
	for _, e := range es {
		bodies = append(bodies, string(e.Body))
	}
	want := []string{`{"recalled":true}`, `"text":"better"`, `{"target":1,"recalled":true}`, `"emoji"`, `{"target":2,"text":"better"}`, `{"target":1}`}
	if !slices.EqualFunc(bodies, want, strings.Contains) {
		t.Errorf("%q", bodies)
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
