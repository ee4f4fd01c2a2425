package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/web/wire"
)

// httpTime is how long a command over HTTP may wait until its work begins; a commit that has begun is waited for.
const httpTime = 10 * time.Second

// serveCommand answers one command of a member, as a socket would.
func (s *Server) serveCommand(w http.ResponseWriter, r *http.Request) {
	method := chi.URLParam(r, "method")
	s.serve(w, r, knownMethod(method), func(ctx context.Context, data []byte) ([]byte, error) {
		c, err := s.callerOf(r)
		if err != nil {
			return nil, err
		}
		if err := s.chat.SignIn(ctx, c.User); err != nil {
			return nil, err
		}
		return s.Call(ctx, c, method, data)
	})
}

// serveAdmin answers one command of an administrator.
func (s *Server) serveAdmin(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, method, func(ctx context.Context, data []byte) ([]byte, error) {
			c, err := s.callerOf(r)
			if err != nil {
				return nil, err
			}
			return s.callAdmin(ctx, c, method, data)
		})
	}
}

// serve reads the request's body, has it answered, writes the reply or the error, and counts it.
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
		failure := s.failure(err)
		code = failure.Code
		writeError(w, failure)
	} else {
		writeJSON(w, http.StatusOK, reply)
	}
	s.metrics.command(method, code, time.Since(began))
}

// callerOf is whom a request's token names.
func (s *Server) callerOf(r *http.Request) (Caller, error) {
	token, _ := bearer(r)
	who, err := s.authenticate(token)
	return Caller{User: who.user, Admin: who.admin}, err
}

// verify tells who the bearer of a token is. Why it is bad is for the operator alone.
func (s *Server) verify(token string) (identity, error) {
	who, err := s.tokens.verify(token)
	if err != nil {
		s.o.Log.Debug("token refused", "err", err)
	}
	return who, err
}

// authenticate is verify in the words of the error table: of bad tokens only expired ones are told apart.
func (s *Server) authenticate(token string) (identity, error) {
	who, err := s.verify(token)
	if errors.Is(err, errTokenInvalid) {
		return identity{}, errUnauthorized
	}
	return who, err
}

// readBody reads a request's body, which may be as long as a frame.
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
	_, _ = w.Write(body) // a client that has gone needs no answer
}

func writeError(w http.ResponseWriter, failure wire.Error) {
	writeJSON(w, failure.Code.Status(), marshal(wire.ErrorBody{Error: failure}))
}

// harden tells browsers to take our answers for what they say they are.
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// cors lets pages of the allowed origins call us. No cookies: a token is what counts.
func (s *Server) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin != "" && s.originListed(origin) {
			h.Set("Access-Control-Allow-Origin", origin)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, POST")
				h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
