package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// listen opens the address of a setting.
func listen(ctx context.Context, setting, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s=%s is in use by another program: stop that one, or choose another port, such as %s=127.0.0.1:0 for any that is free",
			setting, addr, setting)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return l, nil
}

// open returns the address to open in a browser on this machine.
func open(l net.Listener, usesTLS bool) string {
	scheme := "http"
	if usesTLS {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}

// newServer returns the HTTP server for clients or for the back end of the host. Its limits protect against clients that are slow or
// send too much. They do not apply to a connection that has become a WebSocket. Without certificates it serves plain HTTP.
func newServer(handler http.Handler, certificates *tls.Config, writeTimeout time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		TLSConfig:         certificates,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10, // a token has up to 8 KiB
		ErrorLog:          stdlog.New(serverLog{log}, "", 0),
	}
}

// serverLog logs what net/http reports. Failed TLS handshakes are DEBUG, because strangers can cause any number of them.
type serverLog struct{ log *slog.Logger }

// Write implements io.Writer.
func (s serverLog) Write(line []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.Contains(line, []byte("TLS handshake error")) {
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}

// newOpsServer returns the HTTP server for the operator. It sets no time limit on responses, because a profile may
// take long.
func newOpsServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
