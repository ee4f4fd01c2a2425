package archive

import (
	"context"
	"time"

	"hongbao/chat"
)

// Store is what an import and an export need of a database.
type Store interface {
	chat.Store

	// Imported returns the seqs of those texts of the room that were imported, by their ids in the archive.
	Imported(ctx context.Context, room string, ids []string) (map[string]int64, error)
	// Import appends those of the texts to the room that were not imported before, in their order. The authors need not be members, no user is
	// told, and no row is added to the event stream. It returns how many it has appended.
	Import(ctx context.Context, room string, texts []Draft) (int, error)
	// Reactions returns which users have reacted to the entries of a room, by seq and emoji.
	Reactions(ctx context.Context, room string, seqs []int64) (map[int64]map[string][]string, error)
}

// Draft is a text to be imported.
type Draft struct {
	ID        string // in the archive
	From      chat.User
	At        time.Time
	Body      chat.Text           // without ReplyTo
	ReplyTo   string              // id in the archive; "", or that of no text of the room: no reply
	Files     []string            // files that From has uploaded to the room
	Reactions map[string][]string // users by emoji
}
