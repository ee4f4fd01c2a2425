package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// HostSecret signs what servers send to a host of a test.
const HostSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"

// Host is an example of a host, of web/docs/examples, in a process of its own.
type Host struct {
	URL string // without a path

	t *testing.T
}

// StartHost starts an example. It ends with the test.
func StartHost(t *testing.T, example string) *Host {
	t.Helper()
	program := prebuilt(t, example, func() string { return buildPackage(t, "-host-"+example, "", "hongbao/web/docs/examples/"+example) })
	cmd := exec.Command(program, FreeAddress(t))
	cmd.Env = append(BareEnvironment(), "SECRET="+HostSecret)
	out, err := cmd.StdoutPipe()
	NoError(t, err)
	cmd.Stderr = os.Stderr
	NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "answering at ")
	if err != nil || !ok {
		t.Fatalf("the example %s printed %q, %v", example, line, err)
	}
	h := &Host{URL: "http://" + addr, t: t}
	Eventually(t, 10*time.Second, example+" listens", func() bool {
		resp, err := http.Get(h.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	})
	return h
}

// Get reads a page of the host as JSON.
func (h *Host) Get(path string, into any) {
	h.t.Helper()
	NoError(h.t, getJSON(h.URL+path, "", into))
}

// Hook returns the variables of a server that asks the host before these commands.
func (h *Host) Hook(commands string) []string {
	return []string{
		"HONGBAO_HOOK_URL=" + h.URL + "/hook", "HONGBAO_HOOK_SECRETS=" + HostSecret, "HONGBAO_HOOK_ALLOW=127.0.0.1", "HONGBAO_HOOKS=" + commands,
	}
}

// Webhook returns the variables of a server that delivers events of these kinds to the host.
func (h *Host) Webhook(kinds string) []string {
	return []string{
		"HONGBAO_EVENTS=" + kinds, "HONGBAO_WEBHOOK_URL=" + h.URL + "/events", "HONGBAO_WEBHOOK_SECRETS=" + HostSecret, "HONGBAO_WEBHOOK_ALLOW=127.0.0.1",
	}
}

// APIKey makes a key of the server API with the scope admin. It returns the key, and the variables of the servers that accept it at an
// address.
func APIKey(t *testing.T, binary, addr string) (key string, variables []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	variables = []string{"HONGBAO_API_KEYS_FILE=" + file}
	cmd := exec.Command(binary, "apikey", "new", "--name", "test", "--scopes", "admin")
	cmd.Env = append(BareEnvironment(), variables...)
	out, err := cmd.Output()
	NoError(t, err)
	return strings.TrimSpace(string(out)), append(variables, "HONGBAO_API_ADDR="+addr)
}

// HostEvent has those parts of an event, as a host reads it, that tests need.
type HostEvent struct {
	ID, Type string
	Data     struct {
		User    string
		Details struct {
			Funding string
			Amount  int64
		}
	}
}

// HostEvents reads all events of these kinds from the server API at the address.
func HostEvents(t *testing.T, addr, key, kinds string) (all []HostEvent) {
	t.Helper()
	for after, more := "oldest", true; more; {
		var page struct {
			Events []HostEvent
			Next   string
			More   bool
		}
		NoError(t, getJSON(fmt.Sprintf("http://%s/v1/server/events?limit=1000&kinds=%s&after=%s", addr, kinds, after), key, &page))
		all, after, more = append(all, page.Events...), page.Next, page.More
	}
	return all
}

func getJSON(address, token string, into any) error {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := opsPages.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", address, resp.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
