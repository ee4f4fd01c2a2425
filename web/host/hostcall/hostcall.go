// Package hostcall calls URLs of the host. It signs requests as the specification Standard Webhooks says. It must always hold:
// no request goes to an address that is not public, unless the host name is allowed, and no redirect is followed. Package dial
// guarantees both.
package hostcall

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/web/dial"
)

const (
	secretPrefix  = "whsec_"
	minSecretSize = 24
	maxSecretSize = 64
)

// Target is a URL of the host with the secrets that sign its requests.
type Target struct {
	// static
	URL     string
	Client  *http.Client
	secrets [][]byte
}

// Options configures a Target.
type Options struct {
	Name    string // name of the target in errors, such as "webhook"
	Setting string // name of the setting for Allowed, for errors
	URL     string
	Secrets []string // one or two
	Allowed []string // names of hosts that may have addresses that are not public, and may use http://

	Timeout     time.Duration // of a request with its connection
	Connections int           // largest number of connections; an even number
	HeaderBytes int64         // largest size of an answer's header
}

// NewTarget checks the options and returns the target.
func NewTarget(o Options) (*Target, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s URL: %w", o.Name, err)
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return nil, fmt.Errorf("%s URL %q: want https://host/path", o.Name, u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%s URL: must hold no password, because the requests are signed", o.Name)
	case u.Scheme == "http" && !slices.Contains(o.Allowed, u.Hostname()):
		return nil, fmt.Errorf("%s URL %q: http is only for hosts that are allowed by name", o.Name, u.Redacted())
	}
	t := &Target{URL: o.URL}
	if t.secrets, err = parseSecrets(o.Name, o.Secrets); err != nil {
		return nil, err
	}
	t.Client = dial.NewClient(dial.Options{
		Allowed: func(string) bool { return slices.Contains(o.Allowed, u.Hostname()) }, Setting: o.Setting,
		Timeout: o.Timeout, PerHost: max(1, o.Connections/2), Header: o.HeaderBytes,
	})
	t.Client.Timeout = o.Timeout
	return t, nil
}

func parseSecrets(name string, texts []string) (secrets [][]byte, err error) {
	if len(texts) < 1 || len(texts) > 2 {
		return nil, fmt.Errorf("%s has %d secrets, want one, or two while they are rotated", name, len(texts))
	}
	for i, text := range texts {
		encoded, prefixed := strings.CutPrefix(strings.TrimSpace(text), secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !prefixed || err != nil || len(secret) < minSecretSize || len(secret) > maxSecretSize {
			return nil, fmt.Errorf("%s secret %d: want whsec_ and the base64 of %d to %d bytes, such as from: echo whsec_$(openssl rand -base64 32)",
				name, i+1, minSecretSize, maxSecretSize)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// Sign sets the headers of a request: the type of its body, its id and time, and one signature for each secret.
func (t *Target) Sign(h http.Header, id string, now time.Time, body []byte) {
	at := strconv.FormatInt(now.Unix(), 10)
	signed := make([]string, len(t.secrets))
	for i, secret := range t.secrets {
		signed[i] = "v1," + base64.StdEncoding.EncodeToString(mac(secret, id, at, body))
	}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "hongbao")
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", at)
	h.Set("Webhook-Signature", strings.Join(signed, " "))
}

func mac(secret []byte, id, at string, body []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(id + "." + at + "."))
	m.Write(body)
	return m.Sum(nil)
}
