package sqlitestore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// storedTime scans a column of Unix milliseconds into a time.Time.
type storedTime struct{ into *time.Time }

// Scan implements sql.Scanner.
func (t storedTime) Scan(v any) error {
	ms, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", v)
	}
	*t.into = fromMillis(ms)
	return nil
}

// storedJSON scans a JSON document.
type storedJSON struct{ into any }

// Scan implements sql.Scanner.
func (j storedJSON) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a document is stored as %T", v)
	}
	return json.Unmarshal([]byte(text), j.into)
}

// storedSeed scans a seed in clear.
type storedSeed struct{ into *redpacket.Seed }

// Scan implements sql.Scanner.
func (s storedSeed) Scan(v any) error {
	text, ok := v.([]byte)
	if !ok || copy(s.into[:], text) != len(text) || len(text) != len(s.into) {
		return fmt.Errorf("a seed is stored as %d bytes of %T", len(text), v)
	}
	return nil
}

// storedHash scans a SHA-256.
type storedHash struct{ into *chain.Hash }

// Scan implements sql.Scanner.
func (s storedHash) Scan(v any) error {
	if hash, ok := v.([]byte); !ok || copy(s.into[:], hash) != len(hash) || len(hash) != len(s.into) {
		return fmt.Errorf("a hash is stored as %d bytes of %T", len(hash), v)
	}
	return nil
}

// storedPaid scans a claim, or nulls if an outer join found none.
type storedPaid struct {
	share, amount, at  sql.NullInt64
	user, name, avatar sql.NullString
}

// paidColumns returns the columns of the claim c and its user u. The user's name is the one that the newest token
// gave.
func paidColumns(c, u string) string {
	return fmt.Sprintf(`%[1]s.share_no, %[1]s.amount, %[1]s.at, %[1]s.user_id, %[2]s.name, %[2]s.avatar`, c, u)
}

func (s *storedPaid) into() []any {
	return []any{&s.share, &s.amount, &s.at, &s.user, &s.name, &s.avatar}
}

func (s *storedPaid) paid() *redpacket.Paid {
	if !s.share.Valid {
		return nil
	}
	p := &redpacket.Paid{Share: int(s.share.Int64), Amount: redpacket.Money(s.amount.Int64), At: fromMillis(s.at.Int64)}
	p.User.ID, p.User.Name, p.User.Avatar = s.user.String, s.name.String, s.avatar.String
	return p
}
