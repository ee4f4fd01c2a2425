package events

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"hongbao/store/eventlog"
	"hongbao/web/host/hostcall"
)

// Webhook sends events to a URL of the host. The requests are signed as the specification Standard Webhooks says.
type Webhook struct {
	// static
	target *hostcall.Target
	now    func() time.Time

	accepted, refused, failed atomic.Int64 // deliveries so far
}

// Deliveries returns how many deliveries this instance has tried, by outcome.
func (w *Webhook) Deliveries() map[string]int64 {
	return map[string]int64{"accepted": w.accepted.Load(), "refused": w.refused.Load(), "failed": w.failed.Load()}
}

const (
	// sendTime bounds one delivery, with its connection.
	sendTime = 10 * time.Second
	// maxAnswer bounds the bytes of the header and of the body of an answer that are read. The content of the body is ignored:
	// it is read so that the connection can be used again.
	maxAnswer = 16 << 10
)

// NewWebhook returns a webhook. Each delivery is signed with all secrets, of which there are one or two. A target whose address
// is not public is reached only if its host is in allowed.
func NewWebhook(target string, secrets, allowed []string, now func() time.Time) (*Webhook, error) {
	t, err := hostcall.NewTarget(hostcall.Options{
		Name: "webhook", Setting: "HONGBAO_WEBHOOK_ALLOW", URL: target, Secrets: secrets, Allowed: allowed,
		Timeout: sendTime, Connections: 2 * workers, HeaderBytes: maxAnswer,
	})
	if err != nil {
		return nil, err
	}
	return &Webhook{target: t, now: now}, nil
}

// sendError is a delivery that failed.
type sendError struct {
	refused  bool // the host refuses this event, or it cannot be encoded: other events may be accepted
	answered bool // the host has answered, with whatever status
	err      error
}

func (e *sendError) Error() string { return e.err.Error() }

// send delivers one event, and counts the outcome. The error is a *sendError.
func (w *Webhook) send(ctx context.Context, e eventlog.Event) error {
	err := w.post(ctx, e)
	var sent *sendError
	switch {
	case err == nil:
		w.accepted.Add(1)
	case errors.As(err, &sent) && sent.refused:
		w.refused.Add(1)
	default:
		w.failed.Add(1)
	}
	return err
}

func (w *Webhook) post(ctx context.Context, e eventlog.Event) (err error) {
	defer func() { // an event whose encoding panics must not end the process: each instance that takes over would end, too
		if p := recover(); p != nil {
			err = &sendError{refused: true, err: fmt.Errorf("panic: %v", p)}
		}
	}()
	text, err := body(e)
	if err != nil {
		return &sendError{refused: true, err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.target.URL, bytes.NewReader(text))
	if err != nil {
		return &sendError{err: err}
	}
	w.target.Sign(req.Header, e.ID, w.now(), text)
	resp, err := w.target.Client.Do(req)
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
