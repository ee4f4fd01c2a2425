package api

import (
	"context"
	"math"
	"time"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// createLink counts against the contact rate of invite, because users reach others by a link, too.
func (a *Commands) createLink(ctx context.Context, c Caller, r *wire.CreateLinkRequest) (wire.CreateLinkReply, error) {
	ttl := time.Duration(min(r.TTLS, math.MaxInt64/int64(time.Second))) * time.Second
	request := chat.CreateLink{Room: r.Room, Key: r.Key, TTL: ttl, MaxUses: r.MaxUses, Approval: r.Approval}
	if err := a.rates.spendContact(ctx, c, "invite", a.contactRates.Invite, a.chat.CheckCreateLink(request) == nil); err != nil {
		return wire.CreateLinkReply{}, err
	}
	made, err := a.chat.CreateLink(ctx, c.User, request)
	return wire.CreateLinkReply{Link: convert.Link(made.Link), Code: made.Code, Dup: made.Dup}, err
}

func (a *Commands) links(ctx context.Context, c Caller, r *wire.LinksRequest) (wire.LinksReply, error) {
	links, err := a.chat.Links(ctx, c.User.ID, r.Room)
	return wire.LinksReply{Links: convert.List(links, convert.Link)}, err
}

func (a *Commands) revokeLink(ctx context.Context, c Caller, r *wire.RevokeLinkRequest) (wire.RevokeLinkReply, error) {
	return wire.RevokeLinkReply{}, a.chat.RevokeLink(ctx, c.User.ID, r.Room, r.Link)
}

func (a *Commands) joinLink(ctx context.Context, c Caller, r *wire.JoinLinkRequest) (wire.JoinLinkReply, error) {
	m, waiting, err := a.chat.JoinByLink(ctx, c.User, r.Code)
	if err != nil || waiting {
		return wire.JoinLinkReply{Waiting: waiting}, err
	}
	return wire.JoinLinkReply{Room: new(convert.Membership(m))}, nil
}

func (a *Commands) joinRequests(ctx context.Context, c Caller, r *wire.JoinRequestsRequest) (wire.JoinRequestsReply, error) {
	asking, err := a.chat.JoinRequests(ctx, c.User.ID, r.Room)
	return wire.JoinRequestsReply{Requests: convert.List(asking, convert.JoinRequest)}, err
}

func (a *Commands) answerRequest(ctx context.Context, c Caller, r *wire.AnswerRequestRequest) (wire.AnswerRequestReply, error) {
	return wire.AnswerRequestReply{}, a.chat.AnswerRequest(ctx, c.User, r.Room, r.User, r.Admit)
}
