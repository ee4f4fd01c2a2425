package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// certificates returns the TLS settings of the clients' listener, or nil if it serves plain HTTP. The listener of the server API
// may use them, too. The certificate comes from two files, or from a certificate authority by ACME. requests is the HTTP client
// for the authority; nil: http.DefaultClient.
func (c *config) certificates(requests *http.Client, log *slog.Logger) (*tls.Config, error) {
	switch {
	case c.TLSCertFile != "":
		files := &certificateFiles{cert: c.TLSCertFile, key: c.TLSKeyFile, log: log}
		if err := files.read(); err != nil {
			return nil, fmt.Errorf("HONGBAO_TLS_CERT_FILE and HONGBAO_TLS_KEY_FILE: %w", err)
		}
		return &tls.Config{GetCertificate: files.get, MinVersion: tls.VersionTLS12}, nil
	case len(c.ACMEHosts) > 0:
		ordered := &autocert.Manager{
			Prompt:     autocert.AcceptTOS, // the help of HONGBAO_ACME_HOSTS says that it accepts the terms
			Cache:      autocert.DirCache(filepath.Join(c.DataDir, "acme")),
			HostPolicy: autocert.HostWhitelist(c.ACMEHosts...),
			Client:     &acme.Client{DirectoryURL: c.ACMEURL, HTTPClient: requests},
		}
		settings := ordered.TLSConfig() // answers the authority's challenge (tls-alpn-01) on the same listener
		settings.MinVersion = tls.VersionTLS12
		settings.GetCertificate = (&failedOrders{hosts: c.ACMEHosts, get: ordered.GetCertificate, log: log}).certificate
		return settings, nil
	}
	return nil, nil
}

// certificateFiles is a certificate with its key in two files. They are read again while clients connect, so that a new
// certificate needs no restart. If the new files cannot be read, or do not fit together, the old certificate stays in use. One
// handshake at a time reads the files. All others use the present certificate, so a file system that hangs delays only one client.
type certificateFiles struct {
	// static
	cert, key string
	log       *slog.Logger

	inUse atomic.Pointer[tls.Certificate]

	reading  sync.Mutex
	next     time.Time // guarded by reading; when the files are read again
	contents [2][]byte // guarded by reading; of the two files with the certificate in use
}

// readAgain is the shortest time between two reads of the files.
const readAgain = 10 * time.Second

// get returns the certificate for a handshake.
func (f *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if f.reading.TryLock() {
		defer f.reading.Unlock()
		if time.Now().After(f.next) {
			if err := f.read(); err != nil {
				f.log.Warn("new certificate refused, the old one stays in use", "err", err)
			}
		}
	}
	return f.inUse.Load(), nil
}

// read reads the files, and uses their certificate if they have changed. The caller holds reading or is the only user.
func (f *certificateFiles) read() error {
	f.next = time.Now().Add(readAgain)
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(f.key)
	if err != nil {
		return err
	}
	used := f.inUse.Load()
	if used != nil && bytes.Equal(cert, f.contents[0]) && bytes.Equal(key, f.contents[1]) {
		return nil
	}
	made, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	if used != nil {
		f.log.Info("new certificate in use", "until", made.Leaf.NotAfter)
	}
	f.contents = [2][]byte{cert, key}
	f.inUse.Store(&made)
	return nil
}

// failedOrders logs at most once a minute why there is no certificate for one of the hosts. Handshakes for other names are not
// logged: strangers send any number of them.
type failedOrders struct {
	hosts []string
	get   func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	log   *slog.Logger

	mu     sync.Mutex
	logged time.Time // guarded by mu
}

func (o *failedOrders) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	made, err := o.get(hello)
	if err == nil || !slices.Contains(o.hosts, hello.ServerName) {
		return made, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.logged) > time.Minute {
		o.logged = time.Now()
		o.log.Warn("no certificate from the authority: it must reach this server at port 443 of the host, or by a port that is forwarded",
			"host", hello.ServerName, "err", err)
	}
	return made, err
}
