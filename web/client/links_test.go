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
	if joined := must[model.Room](t)(bob.JoinLink(soon(t), code)); joined.ID != r.ID || joined.Role != "member" {
		t.Errorf("%+v", joined)
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
	if _, err := eve.JoinLink(soon(t), code); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, _, err := bob.CreateLink(soon(t), client.NewLink{Room: r.ID}); !errors.Is(err, client.ErrForbidden) {
		t.Errorf("%v", err)
	}
}
