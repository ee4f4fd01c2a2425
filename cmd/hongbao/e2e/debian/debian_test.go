// Package debian runs the program in roots of its own. An empty Debian follows the commands of web/docs/one-machine.md; that needs root,
// debootstrap and a mirror of Debian (make nightly PART=debian). The image of the Dockerfile needs root and buildah (make nightly PART=image).
package debian

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

const page = "../../../../web/docs/one-machine.md"

// TestEmptyDebian follows the page word for word, from the installation to an upgrade.
func TestEmptyDebian(t *testing.T) {
	enginetest.Nightly(t, "debian")
	if os.Getuid() != 0 {
		t.Skip("needs root, for a root folder of its own")
	}
	enginetest.Need(t, "debootstrap")
	debootstrap := enginetest.Program(t, "debootstrap")
	t.Setenv("CGO_ENABLED", "0") // static
	program := e2e.Build(t, "")
	if f, err := elf.Open(program); err != nil || f.Section(".interp") != nil {
		t.Errorf("the program is not static, %v", err)
	}
	next := e2e.BuildNext(t, "create table next (id bigint primary key)", "create table next (id integer primary key) strict")
	root := filepath.Join(t.TempDir(), "debian")
	if out, err := exec.CommandContext(t.Context(), debootstrap, "--variant=minbase", "stable", root).CombinedOutput(); err != nil {
		t.Skipf("debootstrap: %v: no mirror of Debian can be reached, or folders of this kind are not allowed here\n%.2000s", err, out)
	}
	blocks := commands(t)
	addr := e2e.FreeAddress(t)
	sh := open(t, root, "HONGBAO_ADDR="+addr, "HONGBAO_OPS_ADDR=127.0.0.1:0")
	follow := func(heading string) {
		t.Helper()
		t.Logf("%s:\n%s", heading, sh.run(blocks[heading]))
	}

	place(t, program, root)
	follow("Install")
	follow("Start")
	server := &http.Client{Timeout: 20 * time.Second}
	await(t, server, addr)
	follow("Try it")
	ann := caller{t: t, server: server, addr: addr, token: token(t, root)}
	room := call[wire.CreateRoomReply](ann, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	say := func(text string) {
		t.Helper()
		call[wire.SendReply](ann, "send", wire.SendRequest{Room: room, Key: text, Text: text})
	}
	has := func(want string) {
		t.Helper()
		var texts []string
		for _, e := range call[wire.HistoryReply](ann, "history", wire.HistoryRequest{Room: room}).Entries {
			var body wire.TextBody
			e2e.NoError(t, json.Unmarshal(e.Body, &body))
			texts = append(texts, body.Text)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("the room has %q, want %q", got, want)
		}
	}
	say("before")
	follow("Back up")
	say("after")
	has("before after")
	follow("Restore")
	await(t, server, addr)
	has("before")
	say("again")

	place(t, next, root)
	follow("Upgrade")
	await(t, server, addr)
	has("before again")
	say("upgraded")
	if got := sh.run("/etc/hongbao/run audit --brief"); !strings.Contains(got, "the books balance") {
		t.Errorf("the audit says %s", got)
	}
	sh.run(`kill "$(cat /run/hongbao.pid)"; while kill -0 "$(cat /run/hongbao.pid)" 2> /dev/null; do sleep 0.2; done`)
	if log, err := os.ReadFile(filepath.Join(root, "var", "log", "hongbao.log")); err != nil || strings.Count(string(log), "stopped") != 3 {
		t.Errorf("the log, %v, does not have three stops:\n%s", err, log)
	}
}

// commands returns the commands of the page by heading.
func commands(t *testing.T) (blocks map[string]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	e2e.NoError(t, err)
	blocks = map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		heading, rest, _ := strings.Cut(section, "\n")
		for _, found := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(rest, -1) {
			blocks[heading] += found[1]
		}
	}
	if len(blocks) != 6 {
		t.Fatalf("%s has commands below %d headings, want 6", page, len(blocks))
	}
	return blocks
}

// place copies the program to where the page has its reader put it.
func place(t *testing.T, program, root string) {
	t.Helper()
	text, err := os.ReadFile(program)
	e2e.NoError(t, err)
	e2e.NoError(t, os.WriteFile(filepath.Join(root, "root", "hongbao"), text, 0o755))
}

// shell is a shell in the root folder that stays open, as that of the reader does.
type shell struct {
	t     *testing.T
	in    io.Writer
	out   *bufio.Reader
	count int
}

func open(t *testing.T, root string, variables ...string) *shell {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "chroot", root, "/bin/sh", "-eu")
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}, variables...)
	in, err := cmd.StdinPipe()
	e2e.NoError(t, err)
	out, writer, err := os.Pipe()
	e2e.NoError(t, err)
	cmd.Stdout, cmd.Stderr = writer, writer
	e2e.NoError(t, cmd.Start())
	_ = writer.Close()
	s := &shell{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "kill -KILL \"$(cat /run/hongbao.pid)\" 2> /dev/null; exit\n")
		_ = in.Close()
		_ = cmd.Wait()
	})
	s.run("cd /root")
	return s
}

// run runs commands, and returns what they print. The shell ends if one fails.
func (s *shell) run(text string) (printed string) {
	s.t.Helper()
	s.count++
	end := fmt.Sprintf("-- end of step %d\n", s.count)
	if _, err := io.WriteString(s.in, text+"\necho '"+strings.TrimSpace(end)+"'\n"); err != nil {
		s.t.Fatal(err)
	}
	for {
		line, err := s.out.ReadString('\n')
		if line == end {
			return printed
		}
		printed += line
		if err != nil {
			s.t.Fatalf("a command failed, %v:\n%s\nit printed:\n%s", err, text, printed)
		}
	}
}

func await(t *testing.T, server *http.Client, addr string) {
	t.Helper()
	e2e.Eventually(t, 30*time.Second, "the server answers", func() bool {
		r, err := server.Get("http://" + addr + "/page.json")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

func token(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "root", "ann.token"))
	e2e.NoError(t, err)
	return strings.TrimSpace(string(text))
}

type caller struct {
	t           *testing.T
	server      *http.Client
	addr, token string
}

// call sends a command by HTTP.
func call[Reply any](c caller, method string, request any) (reply Reply) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://"+c.addr+"/v1/commands/"+method, strings.NewReader(e2e.JSON(request)))
	e2e.NoError(c.t, err)
	r.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.server.Do(r)
	e2e.NoError(c.t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	e2e.NoError(c.t, err)
	if answer.StatusCode != http.StatusOK {
		c.t.Fatalf("%s: %s %s", method, answer.Status, text)
	}
	e2e.NoError(c.t, json.Unmarshal(text, &reply))
	return reply
}
