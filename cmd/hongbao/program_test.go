package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to change books by hand

	"hongbao/store/sqlitestore"
)

// call runs the command line in this process.
func call(t *testing.T, stdin string, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	p := &program{environ: environ, stdin: strings.NewReader(stdin), stdout: &out, stderr: &err}
	code = p.run(t.Context(), args)
	return code, out.String(), err.String()
}

// mustSay runs the command line and wants the exit code, and the words somewhere in what is printed.
func mustSay(t *testing.T, want int, words string, args ...string) (stdout string) {
	t.Helper()
	code, out, complaint := call(t, "", nil, args...)
	if code != want || !strings.Contains(out+complaint, words) {
		t.Errorf("%v: exit %d, want %d and %q\n%s%s", args, code, want, words, out, complaint)
	}
	return out
}

func TestHelpNamesEverything(t *testing.T) {
	help := mustSay(t, 0, "Usage", "help")
	for _, c := range commands() {
		if !strings.Contains(help, "\n  "+c.name+" ") {
			t.Errorf("help does not name %s", c.name)
		}
		mustSay(t, 0, c.summary, "help", c.name)
		mustSay(t, 0, c.summary, c.name, "--help")
	}
	for _, s := range new(config).settings() {
		if !strings.Contains(help, s.env) || !strings.Contains(help, "--"+s.flag+" ") {
			t.Errorf("help does not name %s", s.env)
		}
	}
}

func TestMistakesAreExplained(t *testing.T) {
	missing := t.TempDir()
	mustSay(t, 2, "hongbao help", "serv")
	mustSay(t, 2, "hongbao help serve", "serve", "--no-such-flag")
	mustSay(t, 2, "unexpected argument", "audit", "now")
	mustSay(t, 1, "--user", "token")
	mustSay(t, 1, "HONGBAO_JWT_SECRET", "token", "--user", "u-1")
	mustSay(t, 1, "--key", "credit", "--user", "u-1", "--amount", "5")
	mustSay(t, 1, "--amount", "credit", "--user", "u-1", "--key", "k")
	mustSay(t, 1, "HONGBAO_DATA_DIR", "audit", "--data-dir", missing)
	mustSay(t, 1, "HONGBAO_DATA_DIR", "credit", "--data-dir", missing, "--user", "u-1", "--amount", "5", "--key", "k")
	if files, _ := filepath.Glob(filepath.Join(missing, "*")); len(files) != 0 {
		t.Errorf("looking at books made %v", files)
	}
}

func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	mustSay(t, 1, "HONGBAO_ADDR="+taken.Addr().String()+" is in use", "serve", "--addr", taken.Addr().String(), "--data-dir", t.TempDir())
	mustSay(t, 1, "HONGBAO_OPS_ADDR="+taken.Addr().String()+" is in use",
		"serve", "--addr", "127.0.0.1:0", "--ops-addr", taken.Addr().String(), "--data-dir", t.TempDir())
}

func TestSecondServerOfAFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var log bytes.Buffer
	serving := &signalling{want: "serving", seen: make(chan struct{})}
	first := &program{stdout: &log, stderr: serving}
	ended := make(chan int, 1)
	args := []string{"serve", "--addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--drain", "0s", "--data-dir", dir}
	go func() { ended <- first.run(ctx, args) }()
	<-serving.seen
	mustSay(t, 1, "another process serves from this folder", args...)
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("the first server ended with %d", code)
	}
	mustSay(t, 0, "the books balance", "audit", "--data-dir", dir)
}

// signalling is a log that tells when a word was written.
type signalling struct {
	want string
	seen chan struct{}
}

func (s *signalling) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(s.want)) {
		close(s.seen)
		s.want = "\x00" // once is enough
	}
	return len(line), nil
}

func TestCreditIsBookedOnce(t *testing.T) {
	dir := t.TempDir()
	mustSay(t, 0, "up to date", "migrate", "--data-dir", dir)
	credit := []string{"credit", "--data-dir", dir, "--user", "u-1", "--key", "k-1", "--note", "prize", "--amount"}
	mustSay(t, 0, "balance 12.34 CNY", append(credit, "1234")...)
	mustSay(t, 0, "nothing changed", append(credit, "1234")...)
	mustSay(t, 1, "choose a new one", append(credit, "1235")...)
	mustSay(t, 0, "the books balance", "audit", "--data-dir", dir)

	var report audited
	if err := json.Unmarshal([]byte(mustSay(t, 0, "", "audit", "--data-dir", dir, "--json")), &report); err != nil {
		t.Fatal(err)
	}
	if !report.OK || report.Funded != 1234 || report.InWallets != 1234 || report.Transfers != 1 {
		t.Errorf("audit: %+v", report)
	}
}

func TestAuditExitsOneOnADifference(t *testing.T) {
	dir := t.TempDir()
	mustSay(t, 0, "", "migrate", "--data-dir", dir)
	mustSay(t, 0, "", "credit", "--data-dir", dir, "--user", "u-1", "--key", "k-1", "--amount", "1000")
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlitestore.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`update wallets set balance = balance + 1`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	mustSay(t, 1, "DIFFERENCE wallet u-1", "audit", "--data-dir", dir)
	mustSay(t, 1, `"ok": false`, "audit", "--data-dir", dir, "--json")
}

func TestTokenIsSigned(t *testing.T) {
	secret := "HONGBAO_JWT_SECRET=" + strings.Repeat("s", 32)
	code, out, complaint := call(t, "", []string{secret}, "token", "--user", "u-1", "--name", "Ann", "--scope", "admin")
	if code != 0 || strings.Count(strings.TrimSpace(out), ".") != 2 {
		t.Errorf("exit %d: %s%s", code, out, complaint)
	}
	code, _, complaint = call(t, "", []string{"HONGBAO_JWT_SECRET=short"}, "token", "--user", "u-1")
	if code != 1 || !strings.Contains(complaint, "at least 32") {
		t.Errorf("a short secret: exit %d: %s", code, complaint)
	}
}

// The packet of PROTOCOL section 7.
const golden = `{"sender": "u-1", "key": "k-1", "mode": "lucky", "spread": "classic", "total": 1000, "count": 5,
	"seed": "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d",
	"commitment": "b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d", "shares": [134, 413, 159, 278, 16]}`

func TestVerify(t *testing.T) {
	tests := []struct {
		name, document string
		code           int
		says           string
	}{
		{"as it was", golden, 0, "shares: OK"},
		{"shares left out", strings.Replace(golden, `, "shares": [134, 413, 159, 278, 16]`, "", 1), 0, "134 413 159 278 16"},
		{"a share changed", strings.Replace(golden, "[134, 413", "[135, 412", 1), 1, "shares: WRONG"},
		{"no share at all", strings.Replace(golden, "[134, 413, 159, 278, 16]", "[]", 1), 1, "shares: WRONG"},
		{"the key changed", strings.Replace(golden, "k-1", "k-2", 1), 1, "shares: WRONG"},
		{"the commitment changed", strings.Replace(golden, "b242", "b243", 1), 1, "commitment: WRONG"},
		{"no seed", strings.Replace(golden, "dd56", "", 1), 1, "hex digits"},
		{"no such field", strings.Replace(golden, `"shares"`, `"share"`, 1), 1, "share"},
		{"an endless packet", strings.Replace(golden, `"count": 5`, `"count": 1000000000`, 1), 1, "count"},
		{"nothing", "", 1, "empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, out, complaint := call(t, test.document, nil, "verify")
			if code != test.code || !strings.Contains(out+complaint, test.says) {
				t.Errorf("exit %d, want %d and %q:\n%s%s", code, test.code, test.says, out, complaint)
			}
		})
	}
	mustSay(t, 0, "shares: OK", "verify", "--file", writeFile(t, golden))
	flags := []string{
		"verify", "--sender", "u-1", "--key", "k-1", "--total", "1000", "--count", "5",
		"--seed", "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d",
		"--commitment", "b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d",
	}
	mustSay(t, 0, "134 413 159 278 16", flags...)
	mustSay(t, 0, "108 270 96 260 266", append(flags, "--spread", "calm", "--shares", "108,270,96,260,266")...)
	mustSay(t, 1, "shares: WRONG", append(flags, "--shares", "108,270,96,260,266")...)
}
