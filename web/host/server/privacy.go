package server

import (
	"context"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
)

// privacy answers the operations that erase users, keep what must not be erased, and say how long rooms keep texts.
type privacy struct{ o Config }

func (s privacy) routes() []Route {
	return []Route{
		Handle("erase_user", s.eraseUser), Handle("get_erasure", s.getErasure),
		Handle("put_legal_hold", s.putHold), Handle("drop_legal_hold", s.dropHold), Handle("list_legal_holds", s.listHolds),
		Handle("get_retention", s.getRetention), Handle("set_retention", s.setRetention), Handle("get_user_entries", s.getEntries),
	}
}

// eraseUser begins an erasure and then closes the user's sockets: see suspendUser.
func (s privacy) eraseUser(ctx context.Context, _ Caller, r *hostapi.EraseUserRequest) (hostapi.ErasureReply, error) {
	if r.Texts != hostapi.KeepTexts && r.Texts != hostapi.EraseTexts {
		return hostapi.ErasureReply{}, chat.BadField("texts", "must be keep or erase")
	}
	e, err := s.o.Chat.Erase(ctx, r.User, r.Texts == hostapi.EraseTexts)
	if err != nil {
		return hostapi.ErasureReply{}, err
	}
	s.o.Web.DisconnectSuspended(r.User)
	return hostapi.ErasureReply{Erasure: erasureOf(e)}, nil
}

func (s privacy) getErasure(ctx context.Context, _ Caller, r *hostapi.GetErasureRequest) (hostapi.ErasureReply, error) {
	e, err := s.o.Chat.Erasure(ctx, r.User)
	return hostapi.ErasureReply{Erasure: erasureOf(e)}, err
}

func erasureOf(e chat.Erasure) hostapi.Erasure {
	made := hostapi.Erasure{
		User: e.User, Texts: hostapi.KeepTexts, State: "running", Waits: string(e.Waits), AskedAt: convert.Millis(e.AskedAt), DoneAt: convert.Millis(e.DoneAt),
		Entries: e.Entries, RoomsLeft: e.RoomsLeft,
	}
	if e.Texts {
		made.Texts = hostapi.EraseTexts
	}
	switch {
	case made.DoneAt > 0:
		made.State = "done"
	case e.Waits == chat.WaitsForHold:
		made.State = "held"
	}
	return made
}

func (s privacy) putHold(ctx context.Context, c Caller, r *hostapi.LegalHoldRequest) (hostapi.LegalHoldReply, error) {
	h, err := s.o.Chat.PutLegalHold(ctx, chat.LegalHold{Kind: chat.HoldKind(r.Kind), ID: r.ID, Actor: c.Actor(), Reason: c.Reason})
	return hostapi.LegalHoldReply{Hold: holdOf(h)}, err
}

func (s privacy) dropHold(ctx context.Context, _ Caller, r *hostapi.LegalHoldRequest) (hostapi.DropLegalHoldReply, error) {
	return hostapi.DropLegalHoldReply{}, s.o.Chat.DropLegalHold(ctx, chat.HoldKind(r.Kind), r.ID)
}

func (s privacy) listHolds(ctx context.Context, _ Caller, r *hostapi.ListLegalHoldsRequest) (hostapi.ListLegalHoldsReply, error) {
	holds, more, err := s.o.Chat.LegalHolds(ctx, chat.LegalHoldQuery{Kind: chat.HoldKind(r.Kind), Next: r.Next, Limit: r.Limit})
	return hostapi.ListLegalHoldsReply{Holds: convert.List(holds, holdOf), Next: more}, err
}

func holdOf(h chat.LegalHold) hostapi.LegalHold {
	return hostapi.LegalHold{Kind: string(h.Kind), ID: h.ID, At: convert.Millis(h.At), Actor: h.Actor, Reason: h.Reason}
}

func (s privacy) getRetention(ctx context.Context, _ Caller, r *hostapi.GetRetentionRequest) (hostapi.RetentionReply, error) {
	return s.retention(s.o.Chat.RoomRetention(ctx, r.Room))
}

func (s privacy) setRetention(ctx context.Context, _ Caller, r *hostapi.SetRetentionRequest) (hostapi.RetentionReply, error) {
	return s.retention(s.o.Chat.SetRetention(ctx, r.Room, r.Days))
}

func (s privacy) retention(r chat.RoomRetention, err error) (hostapi.RetentionReply, error) {
	return hostapi.RetentionReply{Retention: hostapi.Retention{Days: r.Days, Keeps: s.o.Chat.KeptDays(r), Through: r.Seq, Held: r.Held}}, err
}

func (s privacy) getEntries(ctx context.Context, _ Caller, r *hostapi.UserEntriesRequest) (hostapi.UserEntriesReply, error) {
	entries, more, err := s.o.Chat.EntriesOf(ctx, r.User, r.Next, r.Limit)
	return hostapi.UserEntriesReply{Entries: convert.List(entries, convert.Entry), Next: more}, err
}
