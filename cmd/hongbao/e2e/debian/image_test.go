package debian

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
)

// TestImage builds the last stage of the Dockerfile, which begins with an empty root, and serves from it. The first stage needs an image with
// Go from a registry; here the program is built without it.
func TestImage(t *testing.T) {
	enginetest.Nightly(t, "image")
	if os.Getuid() != 0 {
		t.Skip("needs root, for a root folder of its own")
	}
	enginetest.Need(t, "buildah")
	buildah := enginetest.Program(t, "buildah")
	t.Setenv("CGO_ENABLED", "0")
	program, err := os.ReadFile(e2e.Build(t, ""))
	e2e.NoError(t, err)
	certificates, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if err != nil {
		certificates = []byte("none on this machine\n")
	}
	context, storage := t.TempDir(), t.TempDir()
	for name, text := range map[string][]byte{"out/hongbao": program, "etc/ssl/certs/ca-certificates.crt": certificates} {
		e2e.NoError(t, os.MkdirAll(filepath.Join(context, filepath.Dir(name)), 0o755))
		e2e.NoError(t, os.WriteFile(filepath.Join(context, name), text, 0o755))
	}
	e2e.NoError(t, os.Mkdir(filepath.Join(context, "out", "data"), 0o700))
	dockerfile, err := os.ReadFile("../../../../Dockerfile")
	e2e.NoError(t, err)
	_, last, found := strings.Cut(string(dockerfile), "\nFROM scratch\n")
	if !found {
		t.Fatal("the Dockerfile has no stage that begins with scratch")
	}
	e2e.NoError(t, os.WriteFile(filepath.Join(context, "Dockerfile"), []byte("FROM scratch\n"+strings.ReplaceAll(last, "--from=build ", "")), 0o600))
	run := func(arguments ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), buildah, append([]string{
			"--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run"), "--storage-driver", "vfs",
		}, arguments...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("buildah %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("build", "--isolation", "chroot", "--tag", "hongbao", context)
	var image struct {
		OCIv1 struct {
			Config struct {
				User, StopSignal string
				Entrypoint       []string
				Volumes          map[string]any
			} `json:"config"`
		}
	}
	e2e.NoError(t, json.Unmarshal([]byte(run("inspect", "--type", "image", "hongbao")), &image))
	c := image.OCIv1.Config
	if _, data := c.Volumes["/data"]; c.User != "65532:65532" || len(c.Entrypoint) != 1 || c.Entrypoint[0] != "/hongbao" || !data || c.StopSignal != "SIGTERM" {
		t.Errorf("the image has the configuration %+v", c)
	}

	container := run("from", "hongbao")
	t.Log(run("run", "--isolation", "chroot", container, "/hongbao", "version"))
	addr := e2e.FreeAddress(t)
	serve := exec.CommandContext(t.Context(), buildah, "--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run"),
		"--storage-driver", "vfs", "run", "--isolation", "chroot", "--env", "HONGBAO_ADDR="+addr, "--env", "HONGBAO_OPS_ADDR=127.0.0.1:0", "--env", "HONGBAO_GUESTS=local",
		container, "/hongbao")
	var log strings.Builder
	serve.Stderr = &log
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	serve.WaitDelay = 20 * time.Second
	e2e.NoError(t, serve.Start())
	defer func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	}()
	await(t, &http.Client{Timeout: 20 * time.Second}, addr)
}
