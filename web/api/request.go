package api

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/web/wire"
)

// Request is a command as the client sent it: a method and its data. The data is decoded at most once.
type Request struct {
	method  string
	data    []byte
	command *command // nil: the method is unknown
	call    call     // nil: the data is not decoded, or invalid
	fault   error    // the error of decoding the data
}

// NewRequest returns a request without decoding its data. If the data is invalid, Commands.Answer returns the error.
func NewRequest(method string, data []byte) Request {
	return Request{method: method, data: data, command: commands[method]}
}

// Name returns the method's name for metrics. It is "unknown" for a method that does not exist.
func (r *Request) Name() string { return KnownMethod(r.method) }

// Overlaps reports whether the request may run concurrently with other requests of its connection. A request that may
// not starts when all earlier ones are answered.
func (r *Request) Overlaps() bool { return r.command != nil && r.command.overlaps }

// decode decodes the data, unless it is already decoded.
func (r *Request) decode() error {
	if r.call == nil && r.fault == nil {
		c := r.command.new()
		if r.fault = c.decode(r.data); r.fault == nil {
			r.call = c
		}
	}
	return r.fault
}

// Decode decodes a request's data into a request type. Its errors are those that Commands.Answer returns for invalid
// data.
func Decode(data []byte, into any) error {
	err := wire.Decode(data, into)
	if err == nil {
		return nil
	}
	var bad *wire.FieldError
	if errors.As(err, &bad) {
		return chat.BadField(bad.Field, bad.Reason)
	}
	return err
}

// call is a decoded request with its handler and space for its reply, in one allocation.
type call interface {
	decode(data []byte) error
	answer(ctx context.Context, a *Commands, c Caller) (reply any, err error)
}

// command describes one method.
type command struct {
	new      func() call
	overlaps bool
}

// ordered returns a command that starts only when all earlier commands of its connection are answered, because it
// changes data that later ones may read.
func ordered[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	return &command{new: func() call { return &typedCall[Request, Reply]{run: run} }}
}

// overlapping returns a command that may run concurrently with other commands of its connection.
func overlapping[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	c := ordered(run)
	c.overlaps = true
	return c
}

// typedCall implements call for one pair of request and reply types.
type typedCall[Request, Reply any] struct {
	run     func(*Commands, context.Context, Caller, *Request) (Reply, error)
	request Request
	reply   Reply
}

func (t *typedCall[Request, Reply]) decode(data []byte) error { return Decode(data, &t.request) }

func (t *typedCall[Request, Reply]) answer(ctx context.Context, a *Commands, c Caller) (reply any, err error) {
	t.reply, err = t.run(a, ctx, c, &t.request)
	return &t.reply, err
}
