package files

import (
	"cmp"
	"context"
	"net/url"

	"hongbao/chat"
)

const (
	listDefault = 50
	listMost    = 100
)

// List lists files for the host, the newest first. next is the cursor of the following page; "" if there is none.
func (s *Service) List(ctx context.Context, q Query) (page []Stored, next string, err error) {
	switch {
	case q.Room == "" && q.User == "":
		return nil, "", chat.BadField("room", "is missing, and user too")
	case q.Limit < 0:
		return nil, "", chat.BadField("limit", "must not be negative")
	}
	q.Limit = min(cmp.Or(q.Limit, listDefault), listMost)
	return s.rows.ListFiles(ctx, q)
}

// ForHost returns a file, and the path with the query at which its content can be read for LinkFor; "" if it is not whole.
func (s *Service) ForHost(ctx context.Context, room, id string) (f Stored, link string, err error) {
	f, err = s.rows.StoredFile(ctx, room, id)
	switch {
	case err != nil:
		return Stored{}, "", err
	case f.State == Dropped, f.State == Removed:
		return Stored{}, "", chat.ErrNotFound
	case f.State == Coming:
		return f, "", nil
	}
	query := s.link(Link{Room: room, File: id, User: chat.System.ID, Until: s.o.Now().Add(LinkFor).Unix()})
	return f, "/v1/files/" + url.PathEscape(room) + "/" + url.PathEscape(id) + "/" + string(Original) + "?" + query, nil
}

// Release makes a file ready that the host has held.
func (s *Service) Release(ctx context.Context, room, id string) (Stored, error) {
	return s.rows.ReleaseFile(ctx, room, id)
}

// Delete drops a file, also one that is sent.
func (s *Service) Delete(ctx context.Context, room, id string) error {
	return s.rows.DropFile(ctx, room, id, s.o.Now().Add(DropGrace), DropAny)
}
