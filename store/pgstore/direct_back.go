package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// bringBack puts in who of the two has left, and tells the other. The two are locked as users.
func (w *writer) bringBack(p chat.Pairing, room string, before chat.Paired) (made chat.Paired, err error) {
	var (
		b     pgx.Batch
		stood = map[string]chat.Standing{}
		two   = []string{p.Asker.ID, p.Other}
	)
	queueStood(&b, stood, room, two, " for update")
	queueTheRoom(&b, room, " for update", new([]chat.Room))
	if err := w.batch(&b); err != nil {
		return chat.Paired{}, err
	}
	if mine, err := w.kept(before.Entries...); err != nil || mine {
		return before, err
	}
	for _, user := range two {
		if !stood[user].In {
			made.Entered = append(made.Entered, user)
			if err := w.enterPair(p, room, user); err != nil {
				return chat.Paired{}, err
			}
		}
	}
	for i, user := range made.Entered { // after all have come in, who have read what was before
		body, err := chat.Body(chat.MemberChange{User: user, Change: "invited", By: p.Asker.ID})
		if err != nil {
			return chat.Paired{}, err
		}
		e, err := w.appendEntry(chat.Entry{
			Room: room, ID: p.EntryIDs[i], At: p.At, From: p.Asker, Kind: chat.KindMember, Body: body,
		})
		if err != nil {
			return chat.Paired{}, err
		}
		made.Entries = append(made.Entries, e)
	}
	return w.paired(p, room, made, nil)
}
