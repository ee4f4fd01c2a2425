package tables

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// personRecord is a row of persons as a record for Dialect.Records.
type personRecord struct {
	Person string `json:"person"`
	User   string `json:"user_id"`
}

// BindPersons implements redpacket.Ledger. A call that finds all persons bound writes nothing.
func (t Tables) BindPersons(ctx context.Context, packet string, users []redpacket.Entrant, at time.Time) (bound map[string]string, err error) {
	if !t.db.Storable(packet) {
		return nil, chat.ErrNotFound
	}
	var rows []personRecord
	bound, err = read(ctx, t.db, "read who persons are", func(q Querier) (bound map[string]string, err error) {
		bound, rows, err = unboundPersons(q, packet, users)
		return bound, err
	})
	if err != nil || len(rows) == 0 {
		return bound, err
	}
	return write(ctx, t.db, "bind persons", func(w Tx, _ map[string]string) (map[string]string, error) {
		if err := insertPersons(w, packet, at.UnixMilli(), rows); err != nil {
			return nil, err
		}
		bound, _, err := unboundPersons(w, packet, users) // a statement of its own sees what another transaction has committed meanwhile
		return bound, err
	})
}

// unboundPersons reads to which users the persons are bound. It returns the rows that bind the others, of each person to its first user.
func unboundPersons(q Querier, packet string, users []redpacket.Entrant) (bound map[string]string, rows []personRecord, err error) {
	persons := make([]string, len(users))
	for i, u := range users {
		persons[i] = u.Person
	}
	bound = map[string]string{}
	if err := q.Each(func(row Row) error {
		var person, user string
		err := row.Scan(&person, &user)
		bound[person] = user
		return err
	}, `select person, user_id from persons where packet_id = $1 /*! and bucket = bucket_of($1) */ and person `+q.In(2), packet, q.List(persons)); err != nil {
		return nil, nil, err
	}
	for _, u := range users {
		if _, known := bound[u.Person]; !known {
			bound[u.Person] = u.User
			rows = append(rows, personRecord{u.Person, u.User})
		}
	}
	return bound, rows, nil
}

// insertPersons binds the persons that are not bound. It inserts them in their order, so that two transactions do not deadlock.
func insertPersons(w Tx, packet string, now int64, rows []personRecord) error {
	slices.SortFunc(rows, func(a, b personRecord) int { return cmp.Compare(a.Person, b.Person) })
	_, err := w.Exec(`insert into persons (/*! bucket, */ packet_id, person, user_id, at)
		select /*! bucket_of($1), */ $1, person, user_id, $3 from `+w.Records(2, "n", `person text, user_id text`)+` order by person
		on conflict do nothing`, packet, JSON(rows), now)
	return err
}

// bindEntrants binds the persons of the users that may enter a draw, and returns the users without those whose person is bound to another
// one. The draw's row is locked.
func bindEntrants(w Tx, packet string, now int64, users []redpacket.Entrant, e *redpacket.Entering) (may []redpacket.Entrant, err error) {
	for _, u := range users {
		if _, before := e.Entered[u.User]; !before && !u.Refused {
			may = append(may, u)
		}
	}
	if len(may) == 0 || may[0].Person == "" { // all entrants of a packet have a person, or none has
		return may, nil
	}
	bound, rows, err := unboundPersons(w, packet, may)
	if err != nil {
		return nil, err
	}
	e.Elsewhere = map[string]string{}
	may = slices.DeleteFunc(may, func(u redpacket.Entrant) bool {
		other := bound[u.Person]
		if other != u.User {
			e.Elsewhere[u.User] = other
		}
		return other != u.User
	})
	if len(rows) == 0 {
		return may, nil
	}
	return may, insertPersons(w, packet, now, rows)
}
