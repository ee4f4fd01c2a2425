package api

import (
	"context"

	"hongbao/chat"
	"hongbao/chat/rules"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) rules(ctx context.Context, c Caller, r *wire.RulesRequest) (wire.RulesReply, error) {
	all, err := a.chat.RoomRules(ctx, c.User, r.Room)
	return wire.RulesReply{Rules: convert.List(all, func(r rules.Rule) wire.Rule {
		return wire.Rule{Kind: string(r.Kind), Do: string(r.Do), Say: r.Say, Words: r.Words, Patterns: r.Patterns, Hosts: r.Hosts, Seconds: r.Seconds, Days: r.Days}
	})}, err
}

func (a *Commands) setRules(ctx context.Context, c Caller, r *wire.SetRulesRequest) (reply wire.SetRulesReply, err error) {
	all := convert.List(r.Rules, func(r wire.Rule) rules.Rule {
		return rules.Rule{
			Kind: rules.Kind(r.Kind), Do: rules.Action(r.Do), Say: r.Say, Words: r.Words, Patterns: r.Patterns, Hosts: r.Hosts, Seconds: r.Seconds, Days: r.Days,
		}
	})
	if r.Try {
		reply.Met, reply.Tried, err = a.chat.TryRules(ctx, c.User, r.Room, all)
		return reply, err
	}
	return reply, a.chat.SetRoomRules(ctx, c.User, r.Room, all)
}

func (a *Commands) heldTexts(ctx context.Context, c Caller, r *wire.HeldTextsRequest) (wire.HeldTextsReply, error) {
	held, err := a.chat.HeldTexts(ctx, c.User, r.Room)
	return wire.HeldTextsReply{Texts: convert.List(held, func(h chat.HeldText) wire.HeldText {
		return wire.HeldText{ID: h.ID, From: convert.User(h.From), At: convert.Millis(h.At), Rule: string(h.Rule), Text: h.Message.Stored(), Files: len(h.Message.Files)}
	})}, err
}

func (a *Commands) answerText(ctx context.Context, c Caller, r *wire.AnswerTextRequest) (wire.AnswerTextReply, error) {
	return wire.AnswerTextReply{}, a.chat.AnswerText(ctx, c.User, r.Room, r.ID, r.Admit)
}
