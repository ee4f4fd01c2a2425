package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// makeCertificate makes a certificate for 127.0.0.1 with the serial number, and returns it and its key as PEM.
func makeCertificate(t *testing.T, serial int64) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	made, err := x509.CreateCertificate(rand.Reader, form, form, secret.Public(), secret)
	noError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	noError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// TestCertificateFilesReload replaces the files of a certificate. Handshakes must show the new one. While the files do not fit
// together, or one is missing, they must show the old one.
func TestCertificateFilesReload(t *testing.T) {
	dir := t.TempDir()
	c := config{TLSCertFile: filepath.Join(dir, "cert"), TLSKeyFile: filepath.Join(dir, "key")}
	write := func(name, text string) { noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	cert, key := makeCertificate(t, 1)
	write("cert", cert)
	write("key", key)
	var logged strings.Builder
	files := &certificateFiles{cert: c.TLSCertFile, key: c.TLSKeyFile, log: slog.New(slog.NewTextHandler(&logged, nil))}
	shown := func() int64 {
		files.next = time.Time{}
		made, err := files.get(nil)
		noError(t, err)
		return made.Leaf.SerialNumber.Int64()
	}
	if got := shown(); got != 1 {
		t.Fatalf("the certificate shown has serial %d, want 1", got)
	}
	cert, key = makeCertificate(t, 2)
	write("cert", cert)
	if got := shown(); got != 1 || !strings.Contains(logged.String(), "old one stays in use") {
		t.Errorf("with a certificate and another's key the serial is %d, want 1 and a log line; logged: %s", got, &logged)
	}
	write("key", key)
	if got := shown(); got != 2 {
		t.Errorf("after the renewal the serial is %d, want 2", got)
	}
	noError(t, os.Remove(c.TLSCertFile))
	if got := shown(); got != 2 {
		t.Errorf("without the file the serial is %d, want 2", got)
	}
	refused := func(when string) {
		t.Helper()
		if _, err := c.certificates(nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "HONGBAO_TLS_CERT_FILE") {
			t.Errorf("a start %s: %v", when, err)
		}
	}
	refused("without the file")
	write("cert", "")
	write("key", "")
	refused("with empty files")
}

// TestHangingCertificateFileDelaysOneHandshake replaces a file by a pipe into which nobody writes, as on a file system that hangs. One
// handshake reads it and waits. All others must show the present certificate at once.
func TestHangingCertificateFileDelaysOneHandshake(t *testing.T) {
	dir := t.TempDir()
	files := &certificateFiles{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), log: slog.New(slog.DiscardHandler)}
	cert, key := makeCertificate(t, 1)
	noError(t, os.WriteFile(files.cert, []byte(cert), 0o600))
	noError(t, os.WriteFile(files.key, []byte(key), 0o600))
	noError(t, files.read())
	noError(t, os.Remove(files.cert))
	noError(t, syscall.Mkfifo(files.cert, 0o600))
	files.next = time.Time{}

	const handshakes = 10
	done := make(chan int64, handshakes)
	for range handshakes {
		go func() {
			made, err := files.get(nil)
			if err != nil {
				t.Error(err)
			}
			done <- made.Leaf.SerialNumber.Int64()
		}()
	}
	for i := range handshakes {
		if i == handshakes-1 { // only the one that reads is left
			noError(t, os.WriteFile(files.cert, []byte(cert), 0o600))
		}
		select {
		case serial := <-done:
			if serial != 1 {
				t.Errorf("a handshake shows serial %d, want 1", serial)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d handshakes are done while one of them reads a file that hangs", i, handshakes)
		}
	}
}

// TestACME gets a certificate from Pebble, the test server of Let's Encrypt. A second server with the same folder must use that
// certificate while the authority is gone.
func TestACME(t *testing.T) {
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	authority, root := startPebble(t, l.Addr().(*net.TCPAddr).Port)
	c := config{DataDir: t.TempDir(), ACMEHosts: hosts{"chat.example.test"}, ACMEURL: authority.URL + wfe.DirectoryPath}
	serve := func(l net.Listener) {
		certificates, err := c.certificates(authority.Client(), slog.New(slog.DiscardHandler))
		noError(t, err)
		server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }),
			certificates, time.Minute, slog.New(slog.DiscardHandler))
		go func() { _ = serveOn(server, l) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	serve(l)
	get := func(l net.Listener) string {
		client := &http.Client{Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: root},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
			},
		}}
		answer, err := client.Get("https://chat.example.test/")
		for until := time.Now().Add(time.Minute); err != nil && time.Now().Before(until); { // a busy machine may need longer than a handshake may take
			<-time.After(time.Second)
			answer, err = client.Get("https://chat.example.test/")
		}
		noError(t, err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		noError(t, err)
		return string(text)
	}
	if got := get(l); got != "HTTP/2.0" {
		t.Errorf("the page came by %s, want HTTP/2.0", got)
	}
	authority.Close()
	again, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	serve(again)
	get(again)
}

// startPebble starts a certificate authority that checks hosts at the port of this machine, whatever their name. It returns the
// authority and its root certificate.
func startPebble(t *testing.T, port int) (authority *httptest.Server, root *x509.CertPool) {
	t.Helper()
	names, err := net.ListenPacket("udp", "127.0.0.1:0")
	noError(t, err)
	resolver := &dns.Server{PacketConn: names, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, asked *dns.Msg) {
		reply := new(dns.Msg).SetReply(asked)
		if q := asked.Question[0]; q.Qtype == dns.TypeA {
			reply.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}, A: net.IPv4(127, 0, 0, 1)}}
		}
		_ = w.WriteMsg(reply)
	})}
	go func() { _ = resolver.ActivateAndServe() }()
	t.Cleanup(func() { _ = resolver.Shutdown() })

	quiet := log.New(io.Discard, "", 0)
	issued := db.NewMemoryStore()
	signer := ca.New(quiet, issued, "", 0, 1, map[string]ca.Profile{"default": {}})
	judge := va.New(quiet, 0, port, false, names.LocalAddr().String(), issued)
	front := wfe.New(quiet, issued, judge, signer, false, false, 1, 1)
	authority = httptest.NewTLSServer(front.Handler())
	t.Cleanup(authority.Close)
	root = x509.NewCertPool()
	root.AddCert(signer.GetRootCert(0).Cert)
	return authority, root
}
