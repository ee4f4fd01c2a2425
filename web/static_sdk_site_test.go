package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// sdkPolicy is the Content-Security-Policy under which the SDK is tested. It forbids eval and all foreign resources,
// except the sockets that tests open, and the files of the server.
const sdkPolicy = "default-src 'none'; script-src 'self'; connect-src 'self' ws: http://127.0.0.1:*"

// sdkSite serves a page with the vendored SDK, our SDK, its tests and the data that the tests compare with.
func sdkSite(t *testing.T) (site *httptest.Server, mux *http.ServeMux) {
	t.Helper()
	mux = http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!doctype html><title>SDK</title><link rel="icon" href="data:,"><script src="/vendor/centrifuge.js"></script>`))
	})
	for path, dir := range map[string]string{"/sdk/": "page/static/sdk", "/vendor/": "page/static/vendor", "/test/": "testdata/sdk"} {
		mux.Handle("GET "+path, http.StripPrefix(path, http.FileServer(http.Dir(dir))))
	}
	for _, name := range []string{"split.json", "draw.json", "proofs.json"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, "../redpacket/proof/testdata/"+name)
		})
	}
	frames, cuts := goldenFrames(t), randomCuts(t)
	mux.HandleFunc("GET /golden.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, frames) })
	mux.HandleFunc("GET /cuts.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, cuts) })
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", sdkPolicy)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	return site, mux
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// goldenFrames returns the golden frames of package wire, by name.
func goldenFrames(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	files, err := filepath.Glob("wire/testdata/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d golden frames, %v", len(files), err)
	}
	frames := make(map[string]json.RawMessage, len(files))
	for _, file := range files {
		frame, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		frames[strings.TrimSuffix(filepath.Base(file), ".json")] = frame
	}
	return frames
}

// cut is a packet and the shares that the server's code has computed for it.
type cut struct {
	Seed   string            `json:"seed"`
	From   string            `json:"from"`
	Key    string            `json:"key"`
	Mode   redpacket.Mode    `json:"mode"`
	Spread redpacket.Spread  `json:"spread"`
	Total  redpacket.Money   `json:"total"`
	Count  int               `json:"count"`
	Shares []redpacket.Money `json:"shares"`
}

// randomCuts returns packets with random values, and their shares.
func randomCuts(t *testing.T) []cut {
	t.Helper()
	salt := rand.Uint64()
	t.Logf("the packets of salt %d", salt)
	all := make([]cut, 200)
	for i := range all {
		n := rand.New(rand.NewPCG(salt, uint64(i)))
		seed := redpacket.Seed(sha256.Sum256(fmt.Append(nil, salt, i)))
		c := cut{Seed: hex.EncodeToString(seed[:]), From: fmt.Sprint("u:", n.Uint64()), Key: fmt.Sprint("键", n.Uint64()), Mode: redpacket.Lucky}
		switch spreads := []redpacket.Spread{redpacket.Classic, redpacket.Calm, redpacket.Wild, ""}; i % 4 {
		case 3:
			c.Mode = redpacket.Equal
		default:
			c.Spread = spreads[i%4]
		}
		c.Count = 1 + n.IntN(300)
		c.Total = redpacket.Money(c.Count) + redpacket.Money(n.Int64N(int64(1)<<n.IntN(45)))
		var err error
		c.Shares, err = redpacket.Cut(seed, redpacket.Packet{From: chat.User{ID: c.From}, Key: c.Key, Mode: c.Mode, Spread: c.Spread, Total: c.Total, Count: c.Count})
		if err != nil {
			t.Fatal(err)
		}
		all[i] = c
	}
	return all
}
