package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/tables"
)

// rejoinPair adds the user that asks for the room, if that user has left, and appends an entry about the return. Both users
// must be locked.
func (w *writer) rejoinPair(p chat.Pairing, room string, before chat.Paired) (made chat.Paired, err error) {
	var (
		b         pgx.Batch
		standings = map[string]chat.Standing{}
	)
	queueReadStandings(&b, standings, room, []string{p.User.ID}, " for update")
	queueReadRoom(&b, room, " for update", new([]chat.Room))
	if err := w.sendBatch(&b); err != nil {
		return chat.Paired{}, err
	}
	if mine, err := w.committedBefore(before.Entries...); err != nil || mine {
		return before, err
	}
	if standings[p.User.ID].In {
		return w.choosePair(p, room, nil)
	}
	if err := tables.RefuseContact(w, p.User.ID, "user", p.Other); err != nil {
		return chat.Paired{}, err
	}
	if err := w.addPairMember(p, room, p.User.ID); err != nil {
		return chat.Paired{}, err
	}
	body, err := chat.Body(chat.MemberChange{User: p.User.ID, Change: "invited", By: p.User.ID})
	if err != nil {
		return chat.Paired{}, err
	}
	back, err := w.appendEntry(chat.Entry{
		Room: room, ID: p.EntryID, At: p.At, From: p.User, Kind: chat.KindMember, Body: body,
	}, nil)
	if err != nil {
		return chat.Paired{}, err
	}
	made.Entered, made.Entries = []string{p.User.ID}, []chat.Entry{back}
	return w.pairedRoom(p, room, made, nil)
}
