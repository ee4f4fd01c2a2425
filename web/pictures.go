package web

import (
	"context"
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// setPicture makes an uploaded picture the caller's avatar. An empty picture removes the avatar and the caller's pictures. A user whose
// token has an avatar may do neither: the host's avatar takes precedence.
func (s *Server) setPicture(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "picture", func(ctx context.Context, data []byte) ([]byte, error) {
		if s.o.NoPictures {
			return nil, chat.ErrNotFound
		}
		token, _ := auth.Bearer(r)
		identity, err := s.authenticate(ctx, r, token)
		if err != nil {
			return nil, err
		}
		user := identity.User.ID
		if err := s.rates.SpendHTTP(ctx, user); err != nil {
			return nil, err
		}
		stored, err := s.chat.Admit(ctx, identity.User, identity.Issued)
		if err != nil {
			return nil, err
		}
		if !identity.User.KeepAvatar {
			return nil, chat.ErrForbidden
		}
		upload, err := decodePicture(data)
		if err != nil {
			return nil, err
		}
		if err := s.rates.SpendProfileChange(ctx, user); err != nil {
			return nil, err
		}
		if identity.User.Guest() {
			if err := s.rates.SpendUpload(ctx, subnet(s.proxies.client(r))); err != nil {
				return nil, err
			}
		}
		changed, err := s.chat.SetPicture(ctx, stored, identity.Issued, upload)
		if err != nil {
			return nil, err
		}
		s.sessions.Renamed(ctx, user)
		return encode(wire.PictureReply{User: convert.User(changed)}, nil)
	})
}

func decodePicture(data []byte) ([]byte, error) {
	var request wire.PictureRequest
	if err := api.Decode(data, &request); err != nil {
		return nil, err
	}
	if request.Picture == nil {
		return nil, chat.BadField("picture", "is missing")
	}
	upload, err := base64.StdEncoding.DecodeString(*request.Picture)
	if err != nil {
		return nil, chat.BadField("picture", "must be base64")
	}
	return upload, nil
}

// servePicture serves an uploaded picture. The request needs no token, because browsers send none when they load pictures. The address
// contains the hash of the picture, so browsers may cache the picture permanently.
func (s *Server) servePicture(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), httpTime)
	defer cancel()
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	err := s.rates.SpendPicture(ctx, subnet(s.proxies.client(r)))
	var data []byte
	if err == nil {
		data, err = s.chat.Picture(ctx, chi.URLParam(r, "name"))
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	h.Set("Content-Type", "image/jpeg")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) //nolint:gosec // a JPEG that this server has encoded, with its content type; an error means that the client has disconnected
}
