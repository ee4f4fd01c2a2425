package pgstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hongbao/redpacket"
)

// scanText scans a single column of text.
func scanText(rs pgx.Rows) (text string, err error) {
	err = rs.Scan(&text)
	return text, err
}

func scanHead(rs pgx.Rows) (h redpacket.Head, err error) {
	var hash []byte
	if err := rs.Scan(&h.Chain, &h.Link, &hash); err != nil {
		return h, err
	}
	if copy(h.Hash[:], hash) != len(hash) {
		return h, fmt.Errorf("link %d has a hash of %d bytes", h.Link, len(hash))
	}
	return h, nil
}

// storedTime scans a column of Unix milliseconds into a time.Time.
type storedTime struct{ into *time.Time }

// ScanInt64 implements pgtype.Int64Scanner.
func (t storedTime) ScanInt64(ms pgtype.Int8) error {
	if !ms.Valid {
		return errors.New("stored time is null")
	}
	*t.into = fromMillis(ms.Int64)
	return nil
}

// storedSeed scans a seed. It sets drawn to whether there is one: the column is not null.
type storedSeed struct {
	into  *redpacket.Seed
	drawn *bool
}

// ScanBytes implements pgtype.BytesScanner.
func (s storedSeed) ScanBytes(text []byte) error {
	if text != nil && len(text) != len(s.into) {
		return fmt.Errorf("stored seed has %d bytes, want %d", len(text), len(s.into))
	}
	*s.drawn = copy(s.into[:], text) > 0
	return nil
}

// storedPaid scans a claim, or nulls from an outer join.
type storedPaid struct {
	share, amount, at  pgtype.Int8
	user, name, avatar pgtype.Text
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
