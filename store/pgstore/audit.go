package pgstore

import (
	"context"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/tables"
)

// What is about a database as a whole is in package schema. The commands use it by these names.
type (
	// Source is what Fill copies.
	Source = schema.Source
	// Auditor audits a database without a store.
	Auditor = schema.Auditor
)

// See package schema.
var (
	ErrNotEmpty = schema.ErrNotEmpty
	Fill        = schema.Fill
	CheckEmpty  = schema.CheckEmpty
	OpenAuditor = schema.OpenAuditor
	Examine     = schema.Examine
)

// Audit implements redpacket.Ledger. It reads one snapshot, while the servers keep running; on Citus see schema.AuditTwice.
func (s *Store) Audit(ctx context.Context, q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
	a, err = schema.AuditTwice(ctx, s.citus, q, func(q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
		err = s.withLongSnapshot(ctx, func(r pg.Reader) error {
			a, err = schema.Audit(r, schema.BackgroundAudit, q)
			return err
		})
		return a, err
	})
	return a, tables.Outcome("audit", err)
}

// CheckSchema returns an error of package migrations if the schema is not exactly that of this version.
func (s *Store) CheckSchema(ctx context.Context) error {
	return s.withReader(ctx, func(r reader) error {
		applied, err := schema.Applied(r)
		if err != nil {
			return err
		}
		return migrations.Check(migrations.Postgres(), applied)
	})
}

// warnIfNotDurable logs a warning if this Postgres confirms commits that it may lose.
func (s *Store) warnIfNotDurable(ctx context.Context) {
	var flaws []schema.DurabilityFlaw
	err := s.withReader(ctx, func(r reader) (err error) {
		flaws, err = schema.DurabilityFlaws(r)
		return err
	})
	if err != nil {
		s.log.Debug("durability settings not read", "err", err)
	}
	for _, flaw := range flaws {
		s.log.Warn(flaw.Text, "fix", flaw.Fix)
	}
}
