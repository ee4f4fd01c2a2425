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
	"hongbao/store/enginetest"
	"hongbao/store/sqlitestore"
)

// TestTwins runs the same random histories on Postgres and on SQLite, with the same ids, seeds and times. Every call
// of Ledger and Store must give the same result on both.
func TestTwins(t *testing.T) {
	t.Parallel()
	histories, steps := 25, 80
	if enginetest.RaceDetector() || !enginetest.Tonight("suites") {
		histories = 8
	}
	dir := t.TempDir()
	embedded, err := sqlitestore.Open(t.Context(), dir, discardLog)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	file, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlitestore.FileName)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	pair := pair{embedded: embedded, scaled: openStore(t, migratedDatabase(t)), file: file}
	for n := range histories {
		h := &history{T: t, pair: pair, name: fmt.Sprintf("h%d", n), random: rand.New(rand.NewPCG(uint64(n), 1)),
			now: time.UnixMilli(1_700_000_000_000 + int64(n)*1_000_000).UTC()}
		h.setUp()
		for range steps {
			h.step()
		}
		h.compare()
	}
}

// engine is a store whose results are compared: Postgres ("scaled") or SQLite ("embedded").
type engine interface {
	chat.Store
	redpacket.Ledger
}

type pair struct {
	embedded *sqlitestore.Store
	scaled   *Store
	file     *sql.DB // SQLite's database: the stores draw first seeds at random, and here both are set to the same value
}

// history is a random history of one room and its users.
type history struct {
	*testing.T
	pair
	name    string
	random  *rand.Rand
	now     time.Time // advances with every step
	ids     int
	users   []string
	packets []redpacket.Packet
	keys    []redpacket.UnsealedPacket
	adjusts []redpacket.Adjustment

	owner   string // usual owner of the second room
	lastSeq int64  // lower bound of the second room's last seq
}

// both makes the same call on both stores and fails the test if the results differ.
func both[T any](h *history, what string, do func(ctx context.Context, e engine) (T, error)) T {
	h.Helper()
	want, wrong := do(h.Context(), withoutVersions{h.embedded})
	got, err := do(h.Context(), withoutVersions{h.scaled})
	if errors.Is(err, chat.ErrUnavailable) || errors.Is(wrong, chat.ErrUnavailable) || fmt.Sprint(err) != fmt.Sprint(wrong) {
		h.Fatalf("%s of %s: embedded engine returns error %v, scaled engine %v", what, h.name, wrong, err)
	}
	if !reflect.DeepEqual(got, want) {
		h.Fatalf("%s of %s: embedded engine returns\n%+v\nscaled engine\n%+v", what, h.name, want, got)
	}
	return got
}

// withoutVersions sets the versions of accounts to 0 in an engine's results. A call may raise them differently,
// because the stores need different numbers of wallet writes.
type withoutVersions struct{ engine }

func (u withoutVersions) Account(ctx context.Context, user string) (redpacket.Account, error) {
	acc, err := u.engine.Account(ctx, user)
	acc.Version = 0
	return acc, err
}

func (u withoutVersions) Send(ctx context.Context, o redpacket.UnsealedPacket) (redpacket.Sent, error) {
	sent, err := u.engine.Send(ctx, o)
	sent.Account.Version = 0
	return sent, err
}

func (u withoutVersions) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	settled := u.engine.Settle(ctx, claims)
	for i := range settled {
		settled[i].Account.Version = 0
	}
	return settled
}

func (u withoutVersions) End(ctx context.Context, c redpacket.Close) (redpacket.Closed, error) {
	closed, err := u.engine.End(ctx, c)
	for user, acc := range closed.Accounts {
		acc.Version = 0
		closed.Accounts[user] = acc
	}
	return closed, err
}

func (u withoutVersions) Adjust(ctx context.Context, a redpacket.Adjustment) (redpacket.Account, bool, error) {
	acc, dup, err := u.engine.Adjust(ctx, a)
	acc.Version = 0
	return acc, dup, err
}

// answer is the result of a method with two values.
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

func (h *history) setUp() {
	h.Helper()
	for i := range 6 {
		user := fmt.Sprintf("%s-u%d", h.name, i)
		if i == 5 {
			user = chat.GuestPrefix + user
		}
		h.users = append(h.users, user)
		both(h, "user", func(ctx context.Context, e engine) (any, error) {
			_, notBefore, err := e.PutUser(ctx, chat.Profile{User: chat.User{ID: user, Name: "Name of " + user, Avatar: "a"}}, 0)
			return notBefore, err
		})
		seed := h.seed()
		if _, err := h.file.ExecContext(h.Context(), `update users set next_seed = ? where id = ?`, seed[:], user); err != nil {
			h.Fatal(err)
		}
		if err := h.scaled.tx(h.Context(), func(w *writer) error {
			_, err := w.Exec(`update users set next_seed = $1 where id = $2`, seed[:], user)
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
	h.createSecondRoom()
	for range 3 {
		h.adjust()
	}
}
