package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// rejoinPair adds each of the two users that has left, and appends entries about it. Both users must be locked.
func (w *writer) rejoinPair(p chat.Pairing, room string, before chat.Paired) (made chat.Paired, err error) {
	var (
		b         pgx.Batch
		standings = map[string]chat.Standing{}
		two       = []string{p.User.ID, p.Other}
	)
	queueReadStandings(&b, standings, room, two, " for update")
	queueReadRoom(&b, room, " for update", new([]chat.Room))
	if err := w.sendBatch(&b); err != nil {
		return chat.Paired{}, err
	}
	if mine, err := w.committedBefore(before.Entries...); err != nil || mine {
		return before, err
	}
	for _, user := range two {
		if !standings[user].In {
			made.Entered = append(made.Entered, user)
			if err := w.addPairMember(p, room, user); err != nil {
				return chat.Paired{}, err
			}
		}
	}
	for i, user := range made.Entered { // after all joins, because a join marks all entries so far as read
		body, err := chat.Body(chat.MemberChange{User: user, Change: "invited", By: p.User.ID})
		if err != nil {
			return chat.Paired{}, err
		}
		e, err := w.appendEntry(chat.Entry{
			Room: room, ID: p.EntryIDs[i], At: p.At, From: p.User, Kind: chat.KindMember, Body: body,
		}, nil)
		if err != nil {
			return chat.Paired{}, err
		}
		made.Entries = append(made.Entries, e)
	}
	return w.pairedRoom(p, room, made, nil)
}
