package web

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"hongbao/web/wire"
)

// serveProof sends the proof of a finished packet as one document.
func (s *Server) serveProof(w http.ResponseWriter, r *http.Request) {
	s.serveFile(w, r, "proof", func(ctx context.Context) ([]byte, error) {
		c, err := s.callerOf(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := s.rates.SpendHTTP(ctx, c.User.ID); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, httpTime)
		defer cancel()
		return encode(s.commands.Proof(ctx, c, chi.URLParam(r, "packet")))
	})
}

// serveReceiptKeys sends the public keys of receipts. Everybody may know them.
func (s *Server) serveReceiptKeys(w http.ResponseWriter, _ *http.Request) {
	reply, err := wire.Marshal(wire.ReceiptKeysReply{Keys: s.commands.ReceiptKeys()})
	if err != nil {
		s.refuse(w, err)
		return
	}
	writeJSON(w, http.StatusOK, reply)
}
