package chat

import (
	"context"
	"fmt"
	"slices"
)

// FileKind says how clients show a file.
type FileKind string

// The kinds of files.
const (
	PictureFile FileKind = "picture" // decoded and made anew by the server
	VoiceFile   FileKind = "voice"   // a recording, as the client has made it
	OtherFile   FileKind = "file"    // only downloaded
)

// File is a file of a text, as the text's body has it.
type File struct {
	ID   string   `json:"id"`
	Kind FileKind `json:"kind"`
	Name string   `json:"name,omitempty"`
	Type string   `json:"type"` // media type
	Size int64    `json:"size"` // in bytes

	Width  int    `json:"width,omitempty"` // of a picture, in pixels
	Height int    `json:"height,omitempty"`
	Blur   string `json:"blur,omitempty"` // of a picture: see media.Made

	DurationMS int64  `json:"duration_ms,omitempty"` // of a recording
	Wave       string `json:"wave,omitempty"`        // of a recording: base64 of up to 64 bytes, the loudness from its beginning to its end
}

// checkFiles returns an error if there are too many ids of files, or one twice.
func checkFiles(files []string, limit int) error {
	if len(files) > limit {
		return &FieldError{Err: ErrLimitExceeded, Field: "files", Reason: fmt.Sprintf("must be at most %d", limit), Limit: limit}
	}
	for n, id := range files {
		if err := checkID("files", id); err != nil {
			return err
		}
		if slices.Contains(files[:n], id) {
			return BadField("files", "must not have a file twice")
		}
	}
	return nil
}

// filesOf returns the files that the message names, as its body is to have them.
func (s *Service) filesOf(ctx context.Context, from User, m Message) ([]File, error) {
	if len(m.Files) == 0 {
		return nil, nil
	}
	found, err := s.store.Files(ctx, m.Room, from.ID, m.Files)
	if err == nil && len(found) < len(m.Files) {
		err = FilesGone()
	}
	return found, err
}

// FilesGone returns the error that says that a message names a file that it cannot have.
func FilesGone() error {
	return &FieldError{Err: ErrConflict, Field: "files", Reason: "must be files of the room that you have uploaded whole and not sent yet"}
}

// CheckRead returns an error unless the user may read the entries of the room.
func (s *Service) CheckRead(ctx context.Context, room, user string) error {
	return s.mayRead(ctx, room, user)
}
