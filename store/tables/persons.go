package tables

import (
	"context"

	"hongbao/chat"
	"hongbao/redpacket"
)

// BindPerson implements redpacket.Ledger. Most calls that find a bound person write nothing.
func (t Tables) BindPerson(ctx context.Context, b redpacket.PersonBinding) (user string, err error) {
	if !t.db.Storable(b.Packet) {
		return "", chat.ErrNotFound
	}
	bound := func(q Querier) (user string, err error) {
		_, err = q.Row(`select user_id from persons where packet_id = $1 /*! and bucket = bucket_of($1) */ and person = $2`, []any{b.Packet, b.Person}, &user)
		return user, err
	}
	if user, err = read(ctx, t.db, "read who a person is", bound); err != nil || user != "" {
		return user, err
	}
	return write(ctx, t.db, "bind a person", func(w Tx, _ string) (string, error) {
		if _, err := w.Exec(`insert into persons (/*! bucket, */ packet_id, person, user_id, at) values (/*! bucket_of($1), */ $1, $2, $3, $4)
			on conflict do nothing`, b.Packet, b.Person, b.User, b.At.UnixMilli()); err != nil {
			return "", err
		}
		return bound(w) // a statement of its own sees what another transaction has committed meanwhile
	})
}

// personRecord is a row of persons as a record for Dialect.Records.
type personRecord struct {
	Person string `json:"person"`
	User   string `json:"user_id"`
}

// bindEntrants binds the persons of the users that may enter a draw, and returns the users without those whose person is bound to another
// one. The draw's row is locked.
func bindEntrants(w Tx, packet string, now int64, users []redpacket.Entrant, e *redpacket.Entering) (may []redpacket.Entrant, err error) {
	var persons []string
	for _, u := range users {
		if u.Person != "" {
			persons = append(persons, u.Person)
		}
	}
	if len(persons) == 0 {
		return users, nil
	}
	bound := map[string]string{}
	if err := w.Each(func(row Row) error {
		var person, user string
		err := row.Scan(&person, &user)
		bound[person] = user
		return err
	}, `select person, user_id from persons where packet_id = $1 /*! and bucket = bucket_of($1) */ and person `+w.In(2), packet, w.List(persons)); err != nil {
		return nil, err
	}
	e.Elsewhere = map[string]string{}
	var rows []personRecord
	for _, u := range users {
		_, before := e.Entered[u.User]
		switch other := bound[u.Person]; {
		case before || u.Refused:
			continue
		case other == "":
			bound[u.Person] = u.User
			rows = append(rows, personRecord{u.Person, u.User})
		case other != u.User:
			e.Elsewhere[u.User] = other
			continue
		}
		may = append(may, u)
	}
	if len(rows) == 0 {
		return may, nil
	}
	_, err = w.Exec(`insert into persons (/*! bucket, */ packet_id, person, user_id, at)
		select /*! bucket_of($1), */ $1, person, user_id, $3 from `+w.Records(2, "n", `person text, user_id text`), packet, JSON(rows), now)
	return may, err
}
