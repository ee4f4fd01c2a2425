package events

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/store/eventlog"
	"hongbao/web/dial"
)

// Webhook sends events to a URL of the host, signed as Standard Webhooks says.
type Webhook struct {
	// static
	target  string
	secrets [][]byte
	client  *http.Client
	now     func() time.Time
}

const (
	// sendTime bounds one delivery, with its connection.
	sendTime = 10 * time.Second
	// maxAnswer bounds how much of an answer is read. The body means nothing: it is read so that the connection can be used again.
	maxAnswer = 16 << 10

	secretPrefix  = "whsec_"
	minSecretSize = 24
	maxSecretSize = 64
)

// NewWebhook returns a webhook. Each delivery is signed with all secrets, of which there are one or two. A target on an address that is not public is reached
// only if its host is in allowed.
func NewWebhook(target string, secrets, allowed []string, now func() time.Time) (*Webhook, error) {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return nil, fmt.Errorf("webhook URL: %w", err)
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return nil, fmt.Errorf("webhook URL %q: want https://host/path", u.Redacted())
	case u.User != nil:
		return nil, errors.New("webhook URL: must hold no password, because the deliveries are signed")
	case u.Scheme == "http" && !slices.Contains(allowed, u.Hostname()):
		return nil, fmt.Errorf("webhook URL %q: http is only for hosts that are allowed by name", u.Redacted())
	case len(secrets) < 1 || len(secrets) > 2:
		return nil, fmt.Errorf("webhook has %d secrets, want one, or two while they are rotated", len(secrets))
	}
	w := &Webhook{target: target, now: now}
	for i, text := range secrets {
		encoded, prefixed := strings.CutPrefix(strings.TrimSpace(text), secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !prefixed || err != nil || len(secret) < minSecretSize || len(secret) > maxSecretSize {
			return nil, fmt.Errorf("webhook secret %d: want whsec_ and the base64 of %d to %d bytes, such as from: echo whsec_$(openssl rand -base64 32)", i+1, minSecretSize, maxSecretSize)
		}
		w.secrets = append(w.secrets, secret)
	}
	w.client = dial.NewClient(dial.Options{
		Allowed: func(string) bool { return slices.Contains(allowed, u.Hostname()) }, Setting: "HONGBAO_WEBHOOK_ALLOW",
		Timeout: sendTime, PerHost: workers, Header: maxAnswer,
	})
	w.client.Timeout = sendTime
	return w, nil
}

// sendError is a delivery that failed.
type sendError struct {
	refused  bool // the host refuses this event: other events may be accepted
	answered bool // the host has answered at all
	err      error
}

func (e *sendError) Error() string { return e.err.Error() }

// send delivers one event. The error is a *sendError.
func (w *Webhook) send(ctx context.Context, e eventlog.Event) (err error) {
	defer func() { // an event that cannot be encoded must not end the process, on one instance after the other
		if p := recover(); p != nil {
			err = &sendError{refused: true, err: fmt.Errorf("panic: %v", p)}
		}
	}()
	text, err := body(e)
	if err != nil {
		return &sendError{refused: true, err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.target, bytes.NewReader(text))
	if err != nil {
		return &sendError{err: err}
	}
	at := strconv.FormatInt(w.now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "hongbao")
	req.Header.Set("Webhook-Id", e.ID)
	req.Header.Set("Webhook-Timestamp", at)
	req.Header.Set("Webhook-Signature", w.sign(e.ID, at, text))
	resp, err := w.client.Do(req)
	if err != nil {
		return &sendError{err: err}
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // the status decides
	_ = resp.Body.Close()
	switch status := resp.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusRequestTimeout, status == http.StatusGone, status == http.StatusTooManyRequests, status < 400, status >= 500:
		return &sendError{answered: true, err: fmt.Errorf("the webhook answered %s", resp.Status)}
	default:
		return &sendError{refused: true, answered: true, err: fmt.Errorf("the webhook answered %s", resp.Status)}
	}
}

// sign returns the header of the signatures: one for each secret.
func (w *Webhook) sign(id, at string, text []byte) string {
	signed := make([]string, len(w.secrets))
	for i, secret := range w.secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + at + "."))
		mac.Write(text)
		signed[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signed, " ")
}
