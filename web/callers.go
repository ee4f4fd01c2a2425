package web

import (
	"context"
	"errors"
	"net/http"
)

// callerOf is whom a request's token names.
func (s *Server) callerOf(ctx context.Context, r *http.Request) (Caller, error) {
	token, _ := bearer(r)
	who, err := s.authenticate(ctx, r, token)
	if err != nil {
		return Caller{}, err
	}
	return Caller{User: who.user, Admin: who.admin}, s.chat.Admit(ctx, who.user, who.issued)
}

// authenticate is verify for a request, in the words of the error table: of bad tokens only expired ones are told apart.
func (s *Server) authenticate(ctx context.Context, r *http.Request, token string) (identity, error) {
	who, err := s.verify(ctx, token)
	if errors.Is(err, errTokenInvalid) {
		s.o.Log.Debug("request refused", "client", s.proxies.client(r), "path", r.URL.Path)
		return identity{}, errUnauthorized
	}
	return who, err
}

// verify tells who the bearer of a token is. Why it is bad is for the operator alone.
func (s *Server) verify(ctx context.Context, token string) (identity, error) {
	who, err := s.tokens.verify(ctx, token)
	if err != nil {
		s.o.Log.Debug("token refused", "err", err)
	}
	return who, err
}
