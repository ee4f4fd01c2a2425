package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// Target is the installation under load.
type Target struct {
	URLs      []string // of its instances, such as http://localhost:8000
	Tokens    Tokens
	Processes []Process // its processes on this machine
	// Around, if set, runs the measured part by calling play, for example to profile it.
	Around func(p Plan, play func() error) error

	client *http.Client
}

// setupCallers is the largest number of concurrent requests before and after the measured part.
const setupCallers = 32

// maxCallers is the largest number of concurrent requests: a broadcast has this many texts in flight.
const maxCallers = 64

// NewTarget makes a target.
func NewTarget(urls []string, tokens Tokens, processes []Process) *Target {
	t := &Target{Tokens: tokens, Processes: processes}
	for _, url := range urls {
		t.URLs = append(t.URLs, strings.TrimRight(url, "/"))
	}
	t.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: maxCallers}, Timeout: time.Minute}
	return t
}

// Close closes idle connections.
func (t *Target) Close() { t.client.CloseIdleConnections() }

// around runs the measured part.
func (t *Target) around(p Plan, play func() error) error {
	if t.Around == nil {
		return play()
	}
	return t.Around(p, play)
}

// url returns the address of the instance to which a user connects.
func (t *Target) url(number int) string { return t.URLs[number%len(t.URLs)] }

func (t *Target) socketURL(number int) string {
	return "ws" + strings.TrimPrefix(t.url(number), "http") + "/v1/socket"
}

// do sends a request. If no answer comes, or one with a status of 500 or above or 429, do sends the request again, for at most
// about repeatTimeout. So the server may execute a request more than once.
func (t *Target) do(ctx context.Context, verb, url, token string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	for began := time.Now(); ; pause(ctx, again/5) {
		repeat, err := t.try(ctx, verb, url, token, body, answer)
		if err == nil || !repeat || ctx.Err() != nil || time.Since(began) > repeatTimeout {
			return err
		}
	}
}

func (t *Target) try(ctx context.Context, verb, url, token string, body []byte, answer any) (repeat bool, err error) {
	r, err := http.NewRequestWithContext(ctx, verb, url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := t.client.Do(r)
	if err != nil {
		return true, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return true, err
	}
	if response.StatusCode != http.StatusOK {
		temporary := response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests
		return temporary, fmt.Errorf("%s %s: %s: %.300s", verb, url, response.Status, text)
	}
	if answer == nil {
		return false, nil
	}
	return false, json.Unmarshal(text, answer)
}

// command calls an RPC over HTTP for a user.
func (t *Target) command(ctx context.Context, u *user, method string, request, answer any) error {
	return t.do(ctx, http.MethodPost, t.url(u.number)+"/v1/commands/"+method, u.token, request, answer)
}

// history returns a page of a room's entries after a seq.
func (t *Target) history(ctx context.Context, u *user, room string, after int64) ([]entry, error) {
	var page struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if err := t.command(ctx, u, "history", wire.HistoryRequest{Room: room, After: &after, Limit: 100}, &page); err != nil {
		return nil, err
	}
	entries := make([]entry, len(page.Entries))
	for i, text := range page.Entries {
		c := newCursor(text)
		if entries[i].body(&c); !c.ok {
			return nil, fmt.Errorf("not an entry: %s", text)
		}
		entries[i].offset = entries[i].seq
	}
	return entries, nil
}

// last returns the highest stored seq of a room.
func (t *Target) last(ctx context.Context, r *room) (int64, error) {
	var page wire.HistoryReply
	err := t.command(ctx, r.owner, "history", wire.HistoryRequest{Room: r.id, Limit: 1}, &page)
	if err != nil || len(page.Entries) == 0 {
		return 0, err
	}
	return page.Entries[len(page.Entries)-1].Seq, nil
}

// credit puts money into a wallet.
func (t *Target) credit(ctx context.Context, user string, amount int64, key string) error {
	return t.do(ctx, http.MethodPost, t.URLs[0]+"/v1/admin/credit", t.Tokens.Admin, wire.AdjustRequest{User: user, Amount: amount, Key: key}, nil)
}

// auditTimeout bounds the time until an audit has begun and ended.
const auditTimeout = 10 * time.Minute

// audit makes the installation audit its books, and returns the report.
func (t *Target) audit(ctx context.Context) (a wire.AuditReply, err error) {
	url := t.URLs[0] + "/v1/admin/audit"
	var started wire.StartAuditReply
	if err := t.do(ctx, http.MethodPost, url, t.Tokens.Admin, wire.StartAuditRequest{}, &started); err != nil {
		return a, err
	}
	for began := time.Now(); ; pause(ctx, again) {
		err = t.do(ctx, http.MethodGet, url, t.Tokens.Admin, struct{}{}, &a)
		switch {
		case err == nil && a.At >= started.At:
			return a, nil
		case ctx.Err() != nil:
			return a, ctx.Err()
		case time.Since(began) > auditTimeout:
			return a, cmp.Or(err, fmt.Errorf("the installation has not audited its books within %v", auditTimeout))
		}
	}
}

// Tokens signs the tokens of the users.
type Tokens struct {
	Secret   string
	Issuer   string
	Audience string
	Admin    string // token with the scope hongbao:admin
}

// tokenTTL is longer than a load should take.
const tokenTTL = 24 * time.Hour

// SecretTokens returns Tokens that sign with the secret. Their admin token is signed already.
func SecretTokens(secret, issuer, audience string) (Tokens, error) {
	p := Tokens{Secret: secret, Issuer: issuer, Audience: audience}
	admin, err := p.sign("load-admin", auth.DefaultAdminScope)
	p.Admin = admin
	return p, err
}

func (p *Tokens) sign(user, scope string) (string, error) {
	return auth.Sign([]byte(p.Secret), auth.Claims{User: user, Scope: scope, Issuer: p.Issuer, Audience: p.Audience}, tokenTTL)
}

// user returns the id and token of a user of the run.
func (p *Tokens) user(run string, number int) (id, token string, err error) {
	id = fmt.Sprintf("load-%s-%d", run, number)
	token, err = p.sign(id, "")
	return id, token, err
}
