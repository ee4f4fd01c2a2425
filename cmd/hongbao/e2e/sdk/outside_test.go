package sdk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

var moduleRoot = filepath.Join("..", "..", "..", "..")

// TestBotOutside builds the example bot as a program of another module, and lets it answer users.
func TestBotOutside(t *testing.T) {
	enginetest.Nightly(t, "outside")
	root, err := filepath.Abs(moduleRoot)
	e2e.NoError(t, err)
	bot := buildOutside(t, root, "hongbao")
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0")
	ann := e2e.Connect(t, server, server.Guest("Ann"), false)
	guest := server.Guest("Bot")
	room := e2e.Call[wire.CreateRoomReply](ann, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	cmd := exec.Command(bot, server.SocketURL(false))
	cmd.Env = append(e2e.BareEnvironment(), "HONGBAO_TOKEN="+guest.Token)
	var said strings.Builder
	cmd.Stderr = &said
	e2e.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the bot says: %s", said.String())
		}
	}()
	e2e.Call[wire.InviteReply](ann, "invite", wire.InviteRequest{Room: room, Users: []string{guest.User.ID}})
	awaitText := func(what, text string) {
		t.Helper()
		ann.Await(room, what, func(e wire.Entry) bool {
			return e.From.ID == guest.User.ID && e.Kind == "text" && strings.Contains(string(e.Body), text)
		})
	}
	e2e.Eventually(t, 20*time.Second, "the bot is connected", func() bool { return server.Metric("hongbao_connections") == 2 })
	e2e.Call[wire.SendReply](ann, "send", wire.SendRequest{Room: room, Key: "ping", Text: "ping"})
	awaitText("the bot answers", `"pong"`)
	packet := e2e.Call[wire.SendPacketReply](ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "packet", Total: 100, Count: new(2)}).Packet.ID
	mine := e2e.Call[wire.GrabReply](ann, "grab", wire.GrabRequest{Packet: packet}).Amount
	if mine > 50 {
		awaitText("the bot grabs the rest, and names the luckiest", fmt.Sprintf("Ann was the luckiest, with %d", mine))
	} else if mine < 50 {
		awaitText("the bot grabs the rest, and names the luckiest", fmt.Sprintf("Bot was the luckiest, with %d", 100-mine))
	} else {
		awaitText("the bot grabs the rest, and names the luckiest", "was the luckiest, with 50")
	}
}

// TestModulePath gives a copy of the repository another module path, as its publisher does, and builds the bot outside and the program with it.
func TestModulePath(t *testing.T) {
	enginetest.Nightly(t, "outside")
	const path = "example.com/team/hongbao"
	dir := t.TempDir()
	files := exec.Command("git", "-C", moduleRoot, "ls-files", "-z")
	listed, err := files.Output()
	e2e.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimRight(string(listed), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(moduleRoot, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		e2e.NoError(t, err)
		e2e.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		e2e.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	command(t, dir, "make", "module", "MODULE="+path)
	buildOutside(t, dir, path)
	command(t, dir, "go", "build", "-o", filepath.Join(dir, "hongbao"), "./cmd/hongbao")
	command(t, dir, "go", "test", "-count=1", "-run", "ImportDirections", "./cmd/hongbao")
	command(t, dir, "go", "test", "-count=1", "./redpacket/proof", "./store/chain", "./web/spec/generate") // what is hashed and published stays
}

// buildOutside builds the bot of the repository as a program of a module of its own, which requires the module below root. The program may
// contain none of the server's packages.
func buildOutside(t *testing.T, root, path string) (program string) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(root, "web", "client", "bot", "main.go"))
	e2e.NoError(t, err)
	e2e.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), text, 0o600))
	e2e.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"),
		[]byte("module example.com/bot\n\ngo 1.26\n\nrequire "+path+" v0.0.0\n\nreplace "+path+" => "+root+"\n"), 0o600))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	e2e.NoError(t, err)
	e2e.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	program = filepath.Join(dir, "bot")
	command(t, dir, "go", "build", "-mod=mod", "-o", program, ".")
	for name := range strings.Lines(command(t, dir, "go", "list", "-mod=mod", "-deps", ".")) {
		inside, ours := strings.CutPrefix(strings.TrimSpace(name), path+"/")
		if ours && inside != "redpacket/proof" && !strings.HasPrefix(inside, "web/client") && !strings.HasPrefix(inside, "web/wire") {
			t.Errorf("the bot contains the package %s", inside)
		}
	}
	return program
}

// command runs a program in a folder, and returns its output.
func command(t *testing.T, dir, name string, arguments ...string) (output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, arguments...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
