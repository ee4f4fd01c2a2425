package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
)

// ChainsUnderTest is a database with a function that changes it by SQL.
type ChainsUnderTest struct {
	Open func(t *testing.T) ChainedStore // opens the database; the test opens it several times
	Exec func(t testing.TB, statement string)
	Name string // of the database: its file or its URL
}

// ChainedStore is an engine in SQL.
type ChainedStore interface {
	chat.Store
	redpacket.Ledger
	Close() error
}

// TestUnchainedRows takes all rows out of their chains, as a forger does that knows no chain. The audit must report one difference for each
// table, and one for each draw that has ended. empty is the SQL for an empty byte string.
func TestUnchainedRows(t *testing.T, empty string, open func(t *testing.T) ChainsUnderTest) {
	u := open(t)
	s := u.Open(t)
	Live(t, s, s)
	for _, statement := range []string{
		`update entries set link = 0, name_seal = EMPTY, text_seal = EMPTY`, `update packets set link = 0, name_seal = EMPTY, text_seal = EMPTY`,
		`update claims set link = 0`, `update transfers set link = 0`, `update participants set link = 0`, `update rain_waves set link = 0`, `update packets set draw_link = 0`, `delete from links`, `delete from chains`,
	} {
		u.Exec(t, strings.ReplaceAll(statement, "EMPTY", empty))
	}
	a, err := s.Audit(t.Context(), nil)
	if err != nil || len(a.Differences) != 6+4 || !strings.Contains(fmt.Sprint(a.Differences), "in no hash chain") {
		t.Errorf("%+v, %v, want one difference for each of six tables and four draws", a.Differences, err)
	}
}

// TestStoresContinueChains opens and closes the database several times, with one write each. A store must continue the
// chain of a store that was closed, but not the chain of a store that is still open.
func TestStoresContinueChains(t *testing.T, open func(t *testing.T) ChainsUnderTest) {
	u := open(t)
	for i := range 4 {
		s := u.Open(t)
		id := strconv.Itoa(i)
		if _, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: id, User: "ann", Amount: 5, Key: id, Hash: []byte(id), At: lived}); err != nil {
			t.Fatal(err)
		}
		heads, err := s.Heads(t.Context())
		if want := 1 + i/3; err != nil || len(heads) != want {
			t.Errorf("store %d: heads %v, %v, want %d", i, heads, err, want)
		}
		if a, err := s.Audit(t.Context(), &redpacket.AuditQuery{Heads: heads}); err != nil || len(a.Differences) > 0 {
			t.Errorf("store %d: %+v, %v", i, a.Differences, err)
		}
		if i == 2 {
			continue // stays open, as if it had been killed: the next store must not continue its chain
		}
		noError(t, s.Close())
	}
}

// TestTailLost removes the newest entries from the database under a running store, as a restored backup or a failover does.
// The next write that continues the chain must fail with the error lost. Later writes use another chain.
func TestTailLost(t *testing.T, lost error, open func(t *testing.T) ChainsUnderTest) {
	u := open(t)
	s := u.Open(t)
	Live(t, s, s)
	text := func(id string) error {
		_, _, err := s.Append(t.Context(), chat.Draft{ID: id, Room: "room-2", From: chat.User{ID: "u2"}, Kind: chat.KindText,
			Key: id, Hash: []byte(id), Body: json.RawMessage(`{"text":"hello"}`), At: lived})
		return err
	}
	for i := range 3 {
		noError(t, text(fmt.Sprint("lost-", i)))
	}
	u.Exec(t, `delete from links where id in (select link from entries where id like 'lost-%')`)
	u.Exec(t, `delete from requests where key like 'lost-%'`)
	u.Exec(t, `delete from entries where id like 'lost-%'`)
	u.Exec(t, `update rooms set last_seq = last_seq - 3, content_no = content_no - 3 where id = 'room-2'`)
	if err := text("after"); !errors.Is(err, chat.ErrUnavailable) || !errors.Is(err, lost) {
		t.Errorf("the first write: %v, want %v", err, lost)
	}
	if err := text("after"); err != nil {
		t.Errorf("the second write: %v", err)
	}
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Errorf("audit: %+v, %v", a.Differences, err)
	}
}

// TestOtherProgram verifies chains by a program in Python that shares no code with hongbao. Without saved heads, the program
// must agree with the audit about untouched chains, a changed row and lost rows. With saved heads, it must find the lost
// rows, and nothing in untouched chains.
func TestOtherProgram(t *testing.T, open func(t *testing.T) ChainsUnderTest) {
	enginetest.Need(t, "python3")
	u := open(t)
	s := u.Open(t)
	Live(t, s, s)
	AuditUnderTest{Ledger: s, Rooms: s}.appendLast(t)
	heads, err := s.Heads(t.Context())
	noError(t, err)
	saved := saveHeads(t, heads)
	want := func(right bool, args ...string) {
		t.Helper()
		a, err := s.Audit(t.Context(), nil)
		noError(t, err)
		//nolint:gosec // the test makes all arguments
		out, err := exec.CommandContext(t.Context(), "python3", append([]string{"../chain/verify.py", u.Name}, args...)...).CombinedOutput()
		if status := new(exec.ExitError); err != nil && (!errors.As(err, &status) || status.ExitCode() != 1 || !strings.HasPrefix(string(out), "link ")) {
			t.Fatalf("%v: %s", err, out)
		}
		if (err == nil) != right || len(args) == 0 && right != (len(a.Differences) == 0) {
			t.Errorf("the other program: %v, %s; the audit: %+v", err, out, a.Differences)
		}
	}
	want(true, saved)
	u.Exec(t, `update packets set greeting = greeting || '!' where id = 'open'`)
	want(false)
	u.Exec(t, `update packets set greeting = replace(greeting, '!', '') where id = 'open'`)
	want(true)
	u.Exec(t, `delete from links where id = (select link from entries where id = 'last')`)
	u.Exec(t, `delete from requests where key = 'last'`)
	u.Exec(t, `delete from entries where id = 'last'`)
	u.Exec(t, `update rooms set last_seq = last_seq - 1, content_no = content_no - 1 where id = 'room-2'`)
	want(true)
	want(false, saved)
}

// saveHeads writes heads into a file, and returns its name.
func saveHeads(t *testing.T, heads []redpacket.Head) string {
	t.Helper()
	saved := filepath.Join(t.TempDir(), "heads.txt")
	noError(t, os.WriteFile(saved, fmt.Append(nil, heads), 0o600))
	return saved
}
