package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // changeFile changes a database by hand

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
)

// call runs a command line in this process.
func call(t *testing.T, stdin string, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	p := &program{environ: environ, stdin: strings.NewReader(stdin), stdout: &out, stderr: &err}
	code = p.run(t.Context(), args)
	return code, out.String(), err.String()
}

// mustPrint runs a command line, and fails the test unless it ends with the exit code and prints the words.
func mustPrint(t *testing.T, want int, words string, args ...string) (stdout string) {
	t.Helper()
	code, out, stderr := call(t, "", nil, args...)
	if code != want || !strings.Contains(out+stderr, words) {
		t.Errorf("hongbao %v: exit code %d, want %d and an output with %q:\n%s%s", args, code, want, words, out, stderr)
	}
	return out
}

func TestHelpNamesEverything(t *testing.T) {
	help := mustPrint(t, 0, "Usage", "help")
	for _, c := range commands() {
		if !strings.Contains(help, "\n  "+c.name+" ") {
			t.Errorf("help does not name %s", c.name)
		}
		mustPrint(t, 0, c.summary, "help", c.name)
		mustPrint(t, 0, c.summary, c.name, "--help")
	}
	if got := mustPrint(t, 0, "Usage", "--help"); got != help {
		t.Errorf("hongbao --help prints %q, want what hongbao help prints", got)
	}
	for _, s := range new(config).settings() {
		if !strings.Contains(help, s.env) || !strings.Contains(help, s.flagName()+" ") {
			t.Errorf("help does not name %s", s.env)
		}
	}
}

func TestWrongUsageIsExplained(t *testing.T) {
	missing := t.TempDir()
	mustPrint(t, 2, "hongbao help", "serv")
	mustPrint(t, 2, "hongbao help serve", "serve", "--no-such-flag")
	mustPrint(t, 2, "unexpected argument", "audit", "now")
	mustPrint(t, 2, `"loud" is none of DEBUG, INFO, WARN, ERROR`, "serve", "--log-level", "loud")
	mustPrint(t, 1, "HONGBAO_DATABASE_URL: want postgres://", "audit", "--database-url", "nonsense")
	mustPrint(t, 1, "connect to HONGBAO_DATABASE_URL", "audit", "--database-url", "postgres://u@127.0.0.1:1/hongbao")
	mustPrint(t, 1, "connect to HONGBAO_DATABASE_URL", "credit", "--database-url", "postgres://u@127.0.0.1:1/hongbao", "--user", "u", "--amount", "5", "--key", "k")
	mustPrint(t, 1, "--user", "token")
	mustPrint(t, 1, "HONGBAO_JWT_SECRET", "token", "--user", "u-1")
	mustPrint(t, 1, "--key", "credit", "--user", "u-1", "--amount", "5")
	mustPrint(t, 1, "--amount", "credit", "--user", "u-1", "--key", "k")
	mustPrint(t, 1, "HONGBAO_DATA_DIR", "audit", "--data-dir", missing)
	mustPrint(t, 1, "HONGBAO_DATA_DIR", "credit", "--data-dir", missing, "--user", "u-1", "--amount", "5", "--key", "k")
	if files, _ := filepath.Glob(filepath.Join(missing, "*")); len(files) != 0 {
		t.Errorf("reading commands created %v in an empty folder", files)
	}
}

func TestAddressInUseIsNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer func() { _ = taken.Close() }()
	mustPrint(t, 1, "HONGBAO_ADDR="+taken.Addr().String()+" is in use", "serve", "--addr", taken.Addr().String(), "--data-dir", t.TempDir())
	mustPrint(t, 1, "HONGBAO_OPS_ADDR="+taken.Addr().String()+" is in use",
		"serve", "--addr", "127.0.0.1:0", "--ops-addr", taken.Addr().String(), "--data-dir", t.TempDir())
}

func TestSecondServerOfAFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var log bytes.Buffer
	serving := &wordWaiter{want: "serving", seen: make(chan struct{})}
	first := &program{stdout: &log, stderr: io.MultiWriter(serving, &log)}
	ended := make(chan int, 1)
	args := []string{"serve", "--addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--drain", "0s", "--data-dir", dir}
	go func() { ended <- first.run(ctx, args) }()
	<-serving.seen
	mustPrint(t, 1, "another process serves from this folder", args...)
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("the first server ended with exit code %d, want 0", code)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "msg=stopped instance=") {
		t.Errorf("the last line of the log is %q, want stopped, with the instance", last)
	}
	mustPrint(t, 0, "the books balance", "audit", "--data-dir", dir)
}

// wordWaiter is a log that closes seen when a word is written.
type wordWaiter struct {
	want string
	seen chan struct{}
}

func (w *wordWaiter) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(w.want)) {
		close(w.seen)
		w.want = "\x00" // in no line: seen is closed once
	}
	return len(line), nil
}

// TestQuarantineIsListedAndRetried lists a claim in quarantine and retries it. It must be paid, and the books must balance.
func TestQuarantineIsListedAndRetried(t *testing.T) {
	dir := t.TempDir()
	mustPrint(t, 0, "up to date", "migrate", "--data-dir", dir)
	quarantine := []string{"quarantine", "--data-dir", dir}
	mustPrint(t, 0, "still unpaid: 0", quarantine...)
	mustPrint(t, 0, "", "credit", "--data-dir", dir, "--user", "boss", "--key", "k", "--amount", "1000")
	config, log := store.Config{DataDir: dir}, slog.New(slog.DiscardHandler)
	books, err := store.OpenBooks(t.Context(), config, log)
	if err == nil {
		err = books.UseDataKey(t.Context(), config, log)
	}
	noError(t, err)
	l := &storetest.Life{TB: t, Ledger: books.Ledger, Rooms: books.Chat, At: time.Now().Truncate(time.Millisecond)}
	_, _, err = books.Chat.CreateRoom(t.Context(), chat.NewRoom{ID: "room-1", Name: "hall", Kind: chat.Public, Owner: chat.User{ID: "boss"}, Key: "r", Hash: []byte("h"), At: l.At, MaxRooms: 9})
	l.Must(err)
	p := l.Send("boss", "packet", redpacket.Equal, "", 100, 2)
	l.Must(books.Ledger.Quarantine(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: 1, User: "ann", At: l.At}}, "row fails repeatedly"))
	l.Must(books.Close())
	mustPrint(t, 0, "row fails repeatedly\nstill unpaid: 1", quarantine...)
	for _, paid := range []string{"paid now: 1\nstill unpaid: 0", "paid now: 0\nstill unpaid: 0"} {
		mustPrint(t, 0, paid, append(quarantine, "--retry")...)
	}
	mustPrint(t, 0, "the books balance", "audit", "--data-dir", dir)
}

func TestCreditIsBookedOnce(t *testing.T) {
	dir := t.TempDir()
	mustPrint(t, 0, "up to date", "migrate", "--data-dir", dir)
	credit := []string{"credit", "--data-dir", dir, "--user", "u-1", "--key", "k-1", "--note", "prize", "--amount"}
	mustPrint(t, 0, "balance 12.34 CNY", append(credit, "1234")...)
	mustPrint(t, 0, "nothing changed", append(credit, "1234")...)
	mustPrint(t, 1, "choose a new one", append(credit, "1235")...)
	mustPrint(t, 0, "the books balance", "audit", "--data-dir", dir)

	var report audited
	noError(t, json.Unmarshal([]byte(mustPrint(t, 0, "", "audit", "--data-dir", dir, "--json")), &report))
	if !report.OK || report.Funded != 1234 || report.InWallets != 1234 || report.Transfers != 1 {
		t.Errorf("the audit reports %+v, want ok, one transfer, and 1234 funded and in wallets", report)
	}
}

func TestAuditExitsOneOnADifference(t *testing.T) {
	dir := t.TempDir()
	mustPrint(t, 0, "", "migrate", "--data-dir", dir)
	mustPrint(t, 0, "", "credit", "--data-dir", dir, "--user", "u-1", "--key", "k-1", "--amount", "1000")
	changeFile(t, dir, `update wallets set balance = balance + 1`)
	mustPrint(t, 1, "DIFFERENCE wallet u-1", "audit", "--data-dir", dir)
	mustPrint(t, 1, `"ok": false`, "audit", "--data-dir", dir, "--json")
}

// changeFile runs an SQL statement on the database in the folder, past the program.
func changeFile(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlitestore.FileName))
	noError(t, err)
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	noError(t, db.Close())
}

func TestTokenIsSigned(t *testing.T) {
	secret := "HONGBAO_JWT_SECRET=" + strings.Repeat("s", 32)
	code, out, stderr := call(t, "", []string{secret}, "token", "--user", "u-1", "--name", "Ann", "--scope", "hongbao:admin")
	if code != 0 || strings.Count(strings.TrimSpace(out), ".") != 2 {
		t.Errorf("hongbao token: exit code %d and output %s%s, want 0 and a token of three parts", code, out, stderr)
	}
	code, _, stderr = call(t, "", []string{"HONGBAO_JWT_SECRET=short"}, "token", "--user", "u-1")
	if code != 1 || !strings.Contains(stderr, "at least 32") {
		t.Errorf("hongbao token with a short secret: exit code %d and output %s, want 1 and the least length", code, stderr)
	}
}

// examplePacket is the example of the protocol's page about the proof.
const examplePacket = `{"sender": "u-1", "key": "k-1", "mode": "lucky", "spread": "classic", "total": 1000, "count": 5,
	"seed": "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d",
	"commitment": "b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d", "shares": [134, 413, 159, 278, 16]}`

func TestVerify(t *testing.T) {
	tests := []struct {
		name, document string
		code           int
		want           string // part of the output
	}{
		{"unchanged", examplePacket, 0, "shares: OK"},
		{"shares left out", strings.Replace(examplePacket, `, "shares": [134, 413, 159, 278, 16]`, "", 1), 0, "134 413 159 278 16"},
		{"a share changed", strings.Replace(examplePacket, "[134, 413", "[135, 412", 1), 1, "shares: WRONG"},
		{"no share at all", strings.Replace(examplePacket, "[134, 413, 159, 278, 16]", "[]", 1), 1, "shares: WRONG"},
		{"the key changed", strings.Replace(examplePacket, "k-1", "k-2", 1), 1, "shares: WRONG"},
		{"the commitment changed", strings.Replace(examplePacket, "b242", "b243", 1), 1, "commitment: WRONG"},
		{"no seed", strings.Replace(examplePacket, "dd56", "", 1), 1, "hex digits"},
		{"no such field", strings.Replace(examplePacket, `"shares"`, `"share"`, 1), 1, "share"},
		{"too many shares", strings.Replace(examplePacket, `"count": 5`, `"count": 1000000000`, 1), 1, "count"},
		{"nothing", "", 1, "empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, out, stderr := call(t, test.document, nil, "verify")
			if code != test.code || !strings.Contains(out+stderr, test.want) {
				t.Errorf("exit code %d, want %d and an output with %q:\n%s%s", code, test.code, test.want, out, stderr)
			}
		})
	}
	mustPrint(t, 0, "shares: OK", "verify", "--file", writeFile(t, examplePacket))
	flags := []string{
		"verify", "--sender", "u-1", "--key", "k-1", "--total", "1000", "--count", "5",
		"--seed", "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d",
		"--commitment", "b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d",
	}
	mustPrint(t, 0, "134 413 159 278 16", flags...)
	mustPrint(t, 0, "108 270 96 260 266", append(flags, "--spread", "calm", "--shares", "108,270,96,260,266")...)
	mustPrint(t, 1, "shares: WRONG", append(flags, "--shares", "108,270,96,260,266")...)
}
