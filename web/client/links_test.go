package client_test

import (
	"errors"
	"testing"
	"time"

	"hongbao/web/client"
	"hongbao/web/client/model"
)

func TestInviteLinks(t *testing.T) {
	ann, bob := open(t, shared.addr, unique(t, "ann")), open(t, shared.addr, unique(t, "bob"))
	r := must[model.Room](t)(ann.CreateRoom(soon(t), client.NewRoom{Name: "links", Kind: "private"}))
	made, code, err := ann.CreateLink(soon(t), client.NewLink{Room: r.ID, TTL: time.Hour, MaxUses: 2})
	if err != nil || made.MaxUses != 2 || made.Expires.Sub(made.Created) != time.Hour {
		t.Errorf("%+v %v", made, err)
	}
	if joined, waiting, err := bob.JoinLink(soon(t), code); err != nil || waiting || joined.ID != r.ID || joined.Role != "member" {
		t.Errorf("%+v %v %v", joined, waiting, err)
	}
	if e := await[model.Entered](t, bob, nil); e.Room.ID != r.ID {
		t.Errorf("%+v", e)
	}
	if links := must[[]model.Link](t)(ann.Links(soon(t), r.ID)); len(links) != 1 || links[0].ID != made.ID || links[0].Uses != 1 || links[0].By.ID != ann.Me().ID {
		t.Errorf("%+v", links)
	}
	if err := ann.RevokeLink(soon(t), r.ID, made.ID); err != nil {
		t.Error(err)
	}
	eve := open(t, shared.addr, unique(t, "eve"))
	if _, _, err := eve.JoinLink(soon(t), code); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, _, err := bob.CreateLink(soon(t), client.NewLink{Room: r.ID}); !errors.Is(err, client.ErrForbidden) {
		t.Errorf("%v", err)
	}

	_, code, err = ann.CreateLink(soon(t), client.NewLink{Room: r.ID, Approval: true})
	if _, waiting, joining := eve.JoinLink(soon(t), code); err != nil || joining != nil || !waiting {
		t.Errorf("%v %v %v", err, joining, waiting)
	}
	if e := await[model.JoinRequested](t, ann, nil); e != (model.JoinRequested{Room: r.ID, Count: 1}) {
		t.Errorf("%+v", e)
	}
	if asking := must[[]model.JoinRequest](t)(ann.JoinRequests(soon(t), r.ID)); len(asking) != 1 || asking[0].User.ID != eve.Me().ID {
		t.Errorf("%+v", asking)
	}
	if err := ann.AnswerRequest(soon(t), r.ID, eve.Me().ID, true); err != nil {
		t.Error(err)
	}
	if e := await[model.Entered](t, eve, nil); e.Room.ID != r.ID {
		t.Errorf("%+v", e)
	}
}
