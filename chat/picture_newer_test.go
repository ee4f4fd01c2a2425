package chat_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

// onePicture returns an upload of one colour.
func onePicture(t *testing.T, shade uint8) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 160, 160))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.Gray{Y: 50 * shade}), image.Point{}, draw.Src)
	var b bytes.Buffer
	noError(t, png.Encode(&b, m))
	return b.Bytes()
}

// uploadingStore calls upload before it deletes pictures, as another request of the same guest that comes between.
type uploadingStore struct {
	chat.Store
	upload func()
}

func (s *uploadingStore) DeletePictures(ctx context.Context, user string, until time.Time) error {
	if s.upload != nil {
		s.upload()
	}
	return s.Store.DeletePictures(ctx, user, until)
}

// TestNewerPictureStays removes an avatar, or replaces it by another one, while the user uploads a picture. The upload ends between the two steps of the
// change, so it is the avatar in the end, and its picture must be there.
func TestNewerPictureStays(t *testing.T) {
	for name, change := range map[string]func(s *chat.Service, u chat.User) error{
		"removed": func(s *chat.Service, u chat.User) error {
			_, err := s.SetPicture(t.Context(), u, time.Time{}, nil)
			return err
		},
		"replaced": func(s *chat.Service, u chat.User) error { return s.ReplacePicture(t.Context(), u, time.Time{}) },
	} {
		now := time.UnixMilli(1_700_000_000_000)
		clock := func() time.Time { now = now.Add(time.Millisecond); return now }
		h := newTestService(t, chat.Options{Now: clock})
		store := &uploadingStore{Store: h.store}
		s := chat.New(store, h.published, chat.Options{Now: clock})
		h.must(s.SignIn(h.ctx, person("ann")))
		ann, err := s.SetPicture(h.ctx, person("ann"), time.Time{}, onePicture(t, 1))
		noError(t, err)
		older, newer := ann.Avatar, ""
		store.upload = func() {
			store.upload = nil
			u, err := s.SetPicture(h.ctx, person("ann"), time.Time{}, onePicture(t, 2))
			h.must(err)
			newer = u.Avatar
		}
		h.must(change(s, person("ann")))
		file := func(address string) string { return address[strings.LastIndex(address, "/")+1:] }
		if _, err := s.Picture(h.ctx, file(newer)); err != nil {
			t.Errorf("%s: the newer picture: %v", name, err)
		}
		if _, err := s.Picture(h.ctx, file(older)); !errors.Is(err, chat.ErrNotFound) {
			t.Errorf("%s: the older picture: %v, want not found", name, err)
		}
	}
}
