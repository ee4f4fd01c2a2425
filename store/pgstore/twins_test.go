package pgstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
)

// TestTwins lets the same random histories happen to both engines, with the same ids, seeds and times, and wants the
// same answers from everything that a Ledger and a Store can be asked.
func TestTwins(t *testing.T) {
	histories, steps := 25, 80
	if raceDetector || testing.Short() {
		histories = 8
	}
	dir := t.TempDir()
	embedded, err := sqlitestore.Open(t.Context(), dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	file, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlitestore.FileName)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	pair := pair{embedded: embedded, scaled: openStore(t, storetest.Database(t)), file: file}
	for n := range histories {
		h := &history{T: t, pair: pair, name: fmt.Sprintf("h%d", n), random: rand.New(rand.NewPCG(uint64(n), 1)),
			now: time.UnixMilli(1_700_000_000_000 + int64(n)*1_000_000).UTC()}
		h.furnish()
		for range steps {
			h.step()
		}
		h.compare()
	}
}

// engine is what is compared.
type engine interface {
	chat.Store
	redpacket.Ledger
}

type pair struct {
	embedded *sqlitestore.Store
	scaled   *Store
	file     *sql.DB // of the embedded one: first seeds are drawn at random, and must be the same here
}

// history is what happens in a room of its own to users of its own.
type history struct {
	*testing.T
	pair
	name    string
	random  *rand.Rand
	now     time.Time // moves on with every step
	ids     int
	users   []string
	packets []redpacket.Packet
	keys    []redpacket.Order
	adjusts []redpacket.Adjustment

	governor string // of the club, most of the time
	said     int64  // entries in the club, at least
}

// both does the same with both engines and wants the same answer.
func both[T any](h *history, what string, do func(ctx context.Context, e engine) (T, error)) T {
	h.Helper()
	want, wrong := do(h.Context(), h.embedded)
	got, err := do(h.Context(), h.scaled)
	if errors.Is(err, chat.ErrUnavailable) || errors.Is(wrong, chat.ErrUnavailable) || fmt.Sprint(err) != fmt.Sprint(wrong) {
		h.Fatalf("%s of %s: embedded says %v, scaled %v", what, h.name, wrong, err)
	}
	if !reflect.DeepEqual(got, want) {
		h.Fatalf("%s of %s: embedded gives\n%+v\nscaled\n%+v", what, h.name, want, got)
	}
	return got
}

// answer is the outcome of a method with two of them.
type answer[T any] struct {
	value T
	flag  bool
}

func (h *history) id(of string) string {
	h.ids++
	return fmt.Sprintf("%s-%s-%d", h.name, of, h.ids)
}

func (h *history) seed() (s redpacket.Seed) {
	for i := range s {
		s[i] = byte(h.random.Uint32())
	}
	return s
}

func pick[T any](h *history, all []T) T { return all[h.random.IntN(len(all))] }

func (h *history) furnish() {
	h.Helper()
	for i := range 6 {
		user := fmt.Sprintf("%s-u%d", h.name, i)
		h.users = append(h.users, user)
		both(h, "user", func(ctx context.Context, e engine) (any, error) {
			return e.PutUser(ctx, chat.User{ID: user, Name: "Name of " + user, Avatar: "a"}, 0)
		})
		seed := h.seed()
		if _, err := h.file.ExecContext(h.Context(), `update users set next_seed = ? where id = ?`, seed[:], user); err != nil {
			h.Fatal(err)
		}
		if err := h.scaled.tx(h.Context(), func(w *writer) error {
			_, err := w.exec(`update users set next_seed = $1 where id = $2`, seed[:], user)
			return err
		}); err != nil {
			h.Fatal(err)
		}
	}
	both(h, "room", func(ctx context.Context, e engine) (answer[chat.Membership], error) {
		m, dup, err := e.CreateRoom(ctx, chat.NewRoom{ID: h.name, Name: h.name, Kind: chat.Public, Owner: chat.User{ID: h.users[0]},
			Members: h.users[1:4], Key: h.name, Hash: []byte(h.name), At: h.now, MaxRooms: 5})
		return answer[chat.Membership]{m, dup}, err
	})
	h.openClub()
	for range 3 {
		h.adjust()
	}
}
