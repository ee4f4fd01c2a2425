// Package npm tests what programmers of JavaScript get: the SDK as a package that is installed elsewhere, a client generated from the
// OpenAPI document, and both documents under the linters of others. Its tests need Node, npm and the registry of npm: make nightly PART=npm.
package npm

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// The packages that the tests install, each in the version with which they were written.
const (
	typeScript = "typescript@5.9.3"
	nodeTypes  = "@types/node@20.19.0"
	wsTypes    = "@types/ws@8.18.2"
	ws         = "ws@8.23.0"
	vite       = "vite@7.3.8"
	generator  = "openapi-typescript@7.13.0"
	heyAPI     = "@hey-api/openapi-ts@0.99.0"
	fetcher    = "openapi-fetch@0.17.0"
	redocly    = "@redocly/cli@2.77.0"
	spectral   = "@stoplight/spectral-cli@6.16.3"
)

var webDir = filepath.Join("..", "..", "..", "..", "web")

// need skips the test if Node, npm or the registry is missing. packages are what it would install.
func need(t *testing.T, packages ...string) {
	t.Helper()
	enginetest.Need(t, "npm")
	enginetest.Program(t, "node")
	npm := enginetest.Program(t, "npm")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, npm, "view", typeScript, "version").CombinedOutput(); err != nil || len(out) == 0 {
		t.Skipf("needs %s from the registry of npm, which cannot be reached: %v", strings.Join(packages, ", "), err)
	}
}

// project copies a folder into one of its own, where packages are installed.
func project(t *testing.T, from string, packages ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	e2e.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	install(t, dir, packages...)
	return dir
}

// install installs packages. Scripts of theirs are not run: none that the tests need has one that matters.
func install(t *testing.T, dir string, packages ...string) {
	t.Helper()
	run(t, dir, "npm", append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}, packages...)...)
}

// run runs a program in a folder, and returns what it has written to its standard output.
func run(t *testing.T, dir, name string, arguments ...string) (output string) {
	t.Helper()
	output, err := try(t, dir, name, arguments...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return output
}

func try(t *testing.T, dir, name string, arguments ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_UPDATE_NOTIFIER=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return said.String() + string(out), err
	}
	return string(out), nil
}

// pack packs the SDK as it is published. With -artifacts the package stays.
func pack(t *testing.T) (file string) {
	t.Helper()
	dir := project(t, filepath.Join(webDir, "page", "static", "sdk")) // npm publish runs the same: it compiles the types and packs
	license, err := os.ReadFile(filepath.Join(webDir, "..", "LICENSE"))
	e2e.NoError(t, err)
	e2e.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE"), license, 0o600))
	out := run(t, dir, "npm", "pack", "--json", "--silent", "--pack-destination", t.ArtifactDir())
	var packed []struct {
		Filename string
		Files    []struct{ Path string }
	}
	if err := json.Unmarshal([]byte(out[strings.Index(out, "["):]), &packed); err != nil || len(packed) != 1 {
		t.Fatalf("npm pack says %s, %v", out, err)
	}
	var names []string
	for _, f := range packed[0].Files {
		names = append(names, f.Path)
	}
	for _, want := range []string{"LICENSE", "README.md", "package.json", "npm.mjs", "client.js", "types/npm.d.mts", "types/types.d.ts"} {
		if !slices.Contains(names, want) {
			t.Errorf("the package has no %s: %v", want, names)
		}
	}
	for _, name := range names {
		if strings.Contains(name, "node_modules") || name == "tsconfig.json" {
			t.Errorf("the package has %s", name)
		}
	}
	return filepath.Join(t.ArtifactDir(), packed[0].Filename)
}

// TestPackage installs the packed SDK elsewhere. There a program compiles with TypeScript and runs in Node without a WebSocket of its
// own, also across a restart of the server; and a page compiles, is built by Vite, and runs in a browser.
func TestPackage(t *testing.T) {
	enginetest.Nightly(t, "npm")
	need(t, typeScript, nodeTypes, wsTypes, ws, vite, "centrifuge")
	sdk, err := filepath.Abs(pack(t))
	e2e.NoError(t, err)
	site := httptest.NewUnstartedServer(nil)
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), e2e.FreeAddress(t), "HONGBAO_ALLOWED_ORIGINS=http://"+site.Listener.Addr().String())

	t.Run("Node", func(t *testing.T) {
		dir := project(t, "testdata/node", sdk, ws, typeScript, nodeTypes, wsTypes)
		run(t, dir, "npx", "tsc")
		t.Log("Node", run(t, dir, "node", "--version"))
		got := converse(t, dir, server)
		want := []string{
			"refused: there is no global WebSocket: set the option WebSocket, for example to the class of the npm package ws",
			"text: Bob", "grabs: won, won 1000", "proof: 2 true", "code: 1001", "restart", "after the restart: 4", "closed: true",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the program says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("Vite", func(t *testing.T) {
		dir := project(t, "testdata/page", sdk, typeScript, vite)
		run(t, dir, "npx", "tsc")
		t.Log(run(t, dir, "npx", "vite", "build"))
		site.Config.Handler = http.FileServer(http.Dir(filepath.Join(dir, "dist")))
		site.Start()
		t.Cleanup(site.Close)
		tab := webtest.Browser(t).Tab(t)
		behind := url.Values{"address": {server.SocketURL(false)}, "token": {server.Guest("Cleo").Token}}
		tab.Do(chromedp.Navigate(site.URL + "/#" + behind.Encode()))
		if got := webtest.Ask[string](tab, "window.said"); got != "Cleo 1" {
			t.Errorf("the page says %q, want its user and the seq of its text", got)
		}
	})
}

// converse runs the compiled program for two guests, restarts the server when it says so, and returns its lines. It must end by itself.
func converse(t *testing.T, dir string, server *e2e.Server) (lines []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join("built", "main.js"), server.SocketURL(false), server.Guest("Ann").Token, server.Guest("Bob").Token)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	e2e.NoError(t, err)
	out, err := cmd.StdoutPipe()
	e2e.NoError(t, err)
	e2e.NoError(t, cmd.Start())
	for said := bufio.NewScanner(out); said.Scan(); {
		lines = append(lines, said.Text())
		if said.Text() == "restart" {
			server.Kill()
			server = server.Restart()
			_, err := io.WriteString(in, "restarted\n")
			e2e.NoError(t, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v after %v", err, lines)
	}
	return lines
}

// TestGeneratedClient generates a TypeScript client from the OpenAPI document, and runs a program with it.
func TestGeneratedClient(t *testing.T) {
	enginetest.Nightly(t, "npm")
	need(t, generator, fetcher, typeScript, nodeTypes)
	dir := project(t, "testdata/openapi", generator, fetcher, typeScript, nodeTypes)
	document, err := filepath.Abs(filepath.Join(webDir, "spec", "openapi.json"))
	e2e.NoError(t, err)
	run(t, dir, "npx", "openapi-typescript", document, "--output", "schema.d.ts")
	run(t, dir, "npx", "tsc")
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), e2e.FreeAddress(t))
	got := strings.TrimSpace(run(t, dir, "node", filepath.Join("built", "main.js"), server.URL.String(), server.Guest("Ann").Token))
	if want := "text hello\npacket 1000 lucky\nrefused: 404 1001"; got != want {
		t.Errorf("the program says %q, want %q", got, want)
	}
}

// TestFreeObjectsOfGeneratedTypes compiles objects of the host, which have any fields, with the types of two generators.
func TestFreeObjectsOfGeneratedTypes(t *testing.T) {
	enginetest.Nightly(t, "npm")
	need(t, generator, heyAPI, typeScript, nodeTypes)
	dir := project(t, "testdata/server", generator, heyAPI, typeScript, nodeTypes)
	document, err := filepath.Abs(filepath.Join(webDir, "spec", "server-openapi.json"))
	e2e.NoError(t, err)
	run(t, dir, "npx", "openapi-typescript", document, "--output", "schema.d.ts")
	run(t, dir, "npx", "openapi-ts", "--input", document, "--output", "generated", "--plugins", "@hey-api/typescript")
	run(t, dir, "npx", "tsc")
}

// TestDocumentsUnderLinters has Redocly and Spectral check all documents. There must be no error and no warning.
func TestDocumentsUnderLinters(t *testing.T) {
	enginetest.Nightly(t, "npm")
	need(t, redocly, spectral)
	dir := project(t, filepath.Join(webDir, "spec"), redocly, spectral)
	documents, err := filepath.Glob(filepath.Join(webDir, "spec", "*.json"))
	e2e.NoError(t, err)
	if len(documents) < 2 {
		t.Fatalf("there are %d documents", len(documents))
	}
	for _, document := range documents {
		name := filepath.Base(document)
		t.Run(name, func(t *testing.T) {
			var found struct{ Problems []any }
			out, err := try(t, dir, "npx", "redocly", "lint", "--extends=recommended", "--format=json", name)
			if err == nil {
				err = json.Unmarshal([]byte(out), &found)
			}
			if err != nil || len(found.Problems) > 0 {
				t.Errorf("redocly lint: %v, %d problems:\n%.4000s", err, len(found.Problems), out)
			}
			if out, err := try(t, dir, "npx", "spectral", "lint", "--fail-severity", "hint", "--ruleset", "spectral.yaml", name); err != nil {
				t.Errorf("spectral lint: %v\n%.4000s", err, out)
			}
		})
	}
}
