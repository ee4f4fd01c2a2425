package model

import (
	"encoding/json"

	"hongbao/web/wire"
)

// bodies holds, by kind of entry, the function that decodes the entry's body.
var bodies = map[string]func(json.RawMessage) (Body, error){
	"text": func(raw json.RawMessage) (Body, error) {
		var b struct {
			wire.TextBody

			EditedAt  int64          `json:"edited_at"`
			Reactions map[string]int `json:"reactions"`
			Recalled  bool           `json:"recalled"`
			Retired   bool           `json:"retired"`
		}
		err := json.Unmarshal(raw, &b)
		return Text{
			Text: b.Text, Data: b.Data, ReplyTo: b.ReplyTo, Mentions: b.Mentions, MentionAll: b.MentionAll, Preview: (*Preview)(b.Preview),
			EditedAt: TimeOf(b.EditedAt), Reactions: b.Reactions, Recalled: b.Recalled, Retired: b.Retired,
		}, err
	},
	"packet": func(raw json.RawMessage) (Body, error) {
		var b wire.PacketBody
		err := json.Unmarshal(raw, &b)
		return PacketBody{Packet: PacketOf(b.Packet), Reactions: b.Reactions}, err
	},
	"packet_done": func(raw json.RawMessage) (Body, error) {
		var b wire.PacketDoneBody
		err := json.Unmarshal(raw, &b)
		return PacketDone{Packet: b.Packet, Reason: b.Reason, State: StateOf(b.State), Seed: b.Seed}, err
	},
	"member": func(raw json.RawMessage) (Body, error) {
		var b wire.MemberBody
		err := json.Unmarshal(raw, &b)
		return MemberChanged{User: b.User, Change: b.Change, By: b.By, Role: b.Role, Until: TimeOf(b.Until), Users: b.Users, Count: b.Count}, err
	},
	"edit": func(raw json.RawMessage) (Body, error) {
		var b wire.EditBody
		err := json.Unmarshal(raw, &b)
		return Edited{Target: b.Target, Text: b.Text, Preview: (*Preview)(b.Preview), Recalled: b.Recalled}, err
	},
	"recall": func(raw json.RawMessage) (Body, error) {
		var b struct {
			Target int64 `json:"target"`
		}
		err := json.Unmarshal(raw, &b)
		return Recalled(b), err
	},
	"react": func(raw json.RawMessage) (Body, error) {
		var b struct {
			Target int64  `json:"target"`
			Emoji  string `json:"emoji"`
			On     bool   `json:"on"`
			Count  int    `json:"count"`
		}
		err := json.Unmarshal(raw, &b)
		return Reacted(b), err
	},
	"room": func(raw json.RawMessage) (Body, error) {
		var b struct {
			Name         *string `json:"name"`
			Announcement *string `json:"announcement"`
			Invite       string  `json:"invite"`
			Guests       *bool   `json:"guests"`
			Packets      *bool   `json:"packets"`
			Frozen       *bool   `json:"frozen"`
		}
		err := json.Unmarshal(raw, &b)
		return RoomChanged(b), err
	},
}

// bodyOf decodes a body. If it cannot, it returns an Other, so that no entry is lost.
func bodyOf(kind string, raw json.RawMessage) Body {
	if read, ok := bodies[kind]; ok {
		if body, err := read(raw); err == nil {
			return body
		}
	}
	return Other{Raw: raw}
}

// PublicationOf decodes a pushed entry. If the data is not an entry, the result still has the seq.
func PublicationOf(room string, seq int64, data []byte, states map[string]State) Entry {
	var e wire.Entry
	if err := json.Unmarshal(data, &e); err != nil {
		return Entry{Room: room, Seq: seq, Body: Other{Raw: data}}
	}
	e.Seq = seq
	return EntryOf(room, e, states)
}
