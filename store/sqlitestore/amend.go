package sqlitestore

import (
	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

// Erase implements tables.Tx.
func (w *writer) Erase(room string, seq int64) error {
	if err := w.erase(`room_id = ? and seq = ?`, string(chat.EmptyText), room, seq); err != nil {
		return err
	}
	if err := w.erase(`room_id = ? and target = ? and kind = 'edit'`, string(chat.EmptyEdit(seq)), room, seq); err != nil {
		return err
	}
	_, err := w.Exec(`delete from reactions where room_id = ? and seq = ?`, room, seq)
	w.Wiped()
	return err
}

// Wiped implements tables.Tx. A sweep then empties the write-ahead log.
func (w *writer) Wiped() { w.emptied = true }

// erase replaces the bodies of entries. The seal of each becomes the hash that stands for the old body.
func (w *writer) erase(where, body, room string, seq int64) error {
	erased, err := tables.List(w, scanErased, `select seq, text_seal, body from entries where `+where, room, seq)
	if err != nil {
		return err
	}
	for _, e := range erased {
		if _, err := w.Exec(`update entries set body = ?, text_seal = ? where room_id = ? and seq = ?`, body, e.seal, room, e.seq); err != nil {
			return err
		}
	}
	return nil
}

// erasedEntry is an entry whose body is about to be erased, with its new seal.
type erasedEntry struct {
	seq  int64
	seal []byte
}

func scanErased(rs tables.Row) (e erasedEntry, err error) {
	var body string
	if err := rs.Scan(&e.seq, &e.seal, &body); err != nil {
		return e, err
	}
	hash := chain.Sealed(e.seal, body)
	e.seal = hash[:]
	return e, nil
}
