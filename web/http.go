package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/web/api"
	"hongbao/web/wire"
)

// httpTime limits how long a command over HTTP may wait before its work begins. It does not interrupt a commit that has
// begun.
const httpTime = 10 * time.Second

// serveCommand answers one command of a member.
func (s *Server) serveCommand(w http.ResponseWriter, r *http.Request) {
	method := chi.URLParam(r, "method")
	s.serve(w, r, api.KnownMethod(method), func(ctx context.Context, data []byte) ([]byte, error) {
		c, err := s.callerOf(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := s.rates.SpendHTTP(ctx, c.User.ID); err != nil {
			return nil, err
		}
		if method == api.MethodGrab {
			return inTime(ctx, s.o.Log, func() ([]byte, error) { return s.Call(ctx, c, method, data) })
		}
		return s.Call(ctx, c, method, data)
	})
}

// serveAdmin answers one command of an administrator.
func (s *Server) serveAdmin(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, method, func(ctx context.Context, data []byte) ([]byte, error) {
			c, err := s.callerOf(ctx, r)
			if err != nil {
				return nil, err
			}
			return s.callAdmin(ctx, c, method, data)
		})
	}
}

// serve reads the request's body, calls answer, writes the reply or the error, and records the command in the metrics.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, method string, answer func(context.Context, []byte) ([]byte, error)) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), httpTime)
	defer cancel()
	data, err := readBody(w, r)
	var reply []byte
	if err == nil {
		reply, err = answer(ctx, data)
	}
	code := wire.Code(0)
	if err != nil {
		code = s.refuse(w, err)
	} else {
		writeJSON(w, http.StatusOK, reply)
	}
	s.metrics.command(method, code, time.Since(began))
}

// inTime returns the result of work, or chat.ErrUnavailable if ctx ends first. In that case work continues on its own
// goroutine. A panic of work is caught and does not end the process.
func inTime(ctx context.Context, log *slog.Logger, work func() ([]byte, error)) ([]byte, error) {
	type answer struct {
		reply []byte
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				log.Error("panic in a command", "panic", p, "stack", string(debug.Stack()))
				answers <- answer{err: fmt.Errorf("panic: %v", p)}
			}
		}()
		reply, err := work()
		answers <- answer{reply, err}
	}()
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", chat.ErrUnavailable, ctx.Err())
	}
}

// readBody reads the request's body, up to the size limit of a frame.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.FrameBytes))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, chat.BadField("data", "is over 64 KiB")
	case err != nil:
		return nil, chat.BadField("data", "was not sent whole")
	}
	return data, nil
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has disconnected
}

// refuse writes an error as the response and returns its code.
func (s *Server) refuse(w http.ResponseWriter, err error) wire.Code {
	if rate := new(chat.RateError); errors.As(err, &rate) {
		w.Header().Set("Retry-After", strconv.FormatInt(roundedUp(rate.After, time.Second), 10))
	}
	failure := s.errors.Failure(err)
	writeError(w, failure)
	return failure.Code
}

func writeError(w http.ResponseWriter, failure wire.Error) {
	writeJSON(w, failure.Code.Status(), marshal(wire.ErrorBody{Error: failure}))
}

// marshal encodes a value of our own types, for which encoding cannot fail.
func marshal(v any) []byte {
	data, err := wire.Marshal(v)
	if err != nil {
		panic("web: " + err.Error())
	}
	return data
}
