package embedded

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/client"
	"hongbao/web/wire"
)

// TestTLS serves with a certificate of its own. The page must come with HSTS, two users must exchange a packet over wss, and a
// request in plain HTTP must be refused.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	roots := writeCertificate(t, dir)
	server := e2e.Start(t, e2e.Build(t, ""), filepath.Join(dir, "data"), "127.0.0.1:0",
		"HONGBAO_TLS_CERT_FILE="+filepath.Join(dir, "cert"), "HONGBAO_TLS_KEY_FILE="+filepath.Join(dir, "key"))
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	page, err := browser.Get(server.URL.String())
	e2e.NoError(t, err)
	_ = page.Body.Close()
	if page.StatusCode != http.StatusOK || page.ProtoMajor != 2 || page.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("the page: %s by %s, HSTS %q; want 200 by HTTP/2 with HSTS", page.Status, page.Proto, page.Header.Get("Strict-Transport-Security"))
	}
	connect := func(name string) *client.Client {
		answer, err := browser.Post(server.URL.JoinPath("/v1/guests").String(), "application/json", strings.NewReader(`{"name":"`+name+`"}`))
		e2e.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		var guest wire.GuestReply
		e2e.NoError(t, json.NewDecoder(answer.Body).Decode(&guest))
		c, err := client.New("wss://"+server.URL.Host+"/v1/socket", client.Options{Token: guest.Token, TLS: &tls.Config{RootCAs: roots}})
		e2e.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err = c.Ready(ctx)
		e2e.NoError(t, err)
		return c
	}
	ann, ben := connect("Ann"), connect("Ben")
	room, err := ann.CreateRoom(t.Context(), client.NewRoom{Name: "tea", Kind: "public", Members: []string{ben.Me().ID}})
	e2e.NoError(t, err)
	sent, err := ann.SendPacket(t.Context(), client.NewPacket{Room: room.ID, Total: 100, Count: 1})
	e2e.NoError(t, err)
	if won, err := ben.Grab(t.Context(), sent.Packet.ID, ""); err != nil || won.Amount != 100 {
		t.Errorf("the grab won %d, %v; want 100", won.Amount, err)
	}

	plain, err := http.Get("http://" + server.URL.Host + "/")
	e2e.NoError(t, err)
	defer func() { _ = plain.Body.Close() }()
	if text, _ := io.ReadAll(plain.Body); plain.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "HTTPS") {
		t.Errorf("plain HTTP: %s, %q; want 400 and a word about HTTPS", plain.Status, text)
	}
	server.Stop()
}

// writeCertificate writes a certificate for 127.0.0.1 and its key into the folder, and returns the roots of clients that trust it.
func writeCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	e2e.NoError(t, err)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	made, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	e2e.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	e2e.NoError(t, err)
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: made}, "key": {Type: "PRIVATE KEY", Bytes: private}} {
		e2e.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}))
	return roots
}
