package strict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

func TestDecode(t *testing.T) {
	zero, nine, none := int64(0), int64(9), ""
	for _, c := range []struct {
		data string
		want any
	}{
		{`{"room":"r","before":9}`, wire.HistoryRequest{Room: "r", Before: &nine}},
		{`{"room":"r","after":0,"limit":1000000}`, wire.HistoryRequest{Room: "r", After: &zero, Limit: 1000000}},
		{"\n { \"room\" : \"r\" } \r\n", wire.HistoryRequest{Room: "r"}},
		{`{"room":"q","room":"r","unknown":[1.5,null],"Room":"x"}`, wire.HistoryRequest{Room: "r"}},
		{`{"room":"r","seq":-0}`, wire.ReadRequest{Room: "r"}},
		{`{"room":"r","seq":9007199254740991}`, wire.ReadRequest{Room: "r", Seq: strict.MaxInt}},
		{`{"room":"\\u0000","seq":1}`, wire.ReadRequest{Room: `\u0000`, Seq: 1}},
		{`{"key":"k","name":"\ud83e\udde7","members":[]}`, wire.CreateRoomRequest{Key: "k", Name: "🧧", Members: []string{}}},
		{`{"key":"k","name":"n","members":["a","b"],"kind":""}`, wire.CreateRoomRequest{Key: "k", Name: "n", Members: []string{"a", "b"}}},
		{`{"room":"r","key":"k","data":{ "a" : [1, {"b":"\n "}] }}`, wire.SendRequest{Room: "r", Key: "k", Data: []byte(`{"a":[1,{"b":"\n "}]}`)}},
		{`{"room":"r","user":"u","ban":true}`, wire.KickRequest{Room: "r", User: "u", Ban: true}},
		{`{"room":"r","seq":1,"emoji":"e","on":false}`, wire.ReactRequest{Room: "r", Seq: 1, Emoji: "e"}},
		{`{"room":"r","announcement":""}`, wire.UpdateRoomRequest{Room: "r", Announcement: &none}},
		{``, wire.WalletRequest{}},
		{`null`, wire.WalletRequest{}},
		{`{}`, struct{}{}},
	} {
		got := reflect.New(reflect.TypeOf(c.want))
		if err := strict.Decode([]byte(c.data), got.Interface()); err != nil {
			t.Errorf("%s: %v", c.data, err)
		} else if !reflect.DeepEqual(got.Elem().Interface(), c.want) {
			t.Errorf("%s\n got %+v\nwant %+v", c.data, got.Elem(), c.want)
		}
	}
}

func TestDecodeNamesTheField(t *testing.T) {
	for _, c := range []struct {
		data  string
		into  any
		field string
	}{
		{``, new(wire.ReadRequest), "room"},
		{`null`, new(wire.ReadRequest), "room"},
		{`{}`, new(wire.ReadRequest), "room"},
		{`{"ROOM":"r","seq":1}`, new(wire.ReadRequest), "room"},
		{`{"room":"","seq":1}`, new(wire.ReadRequest), "room"},
		{`{"room":7,"seq":1}`, new(wire.ReadRequest), "room"},
		{`{"room":null,"seq":1}`, new(wire.ReadRequest), "room"},
		{`{"room":"a\u0000b","seq":1}`, new(wire.ReadRequest), "room"},
		{`{"room":"\\\u0000","seq":1}`, new(wire.ReadRequest), "room"},
		{`{"room":"r"}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":null}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":"5"}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":1.0}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":1e3}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":true}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":-1}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":9007199254740992}`, new(wire.ReadRequest), "seq"},
		{`{"room":"r","seq":18446744073709551617}`, new(wire.ReadRequest), "seq"},
		{`{"query":null}`, new(wire.FindRoomsRequest), "query"},
		{`{"room":"r","before":null}`, new(wire.HistoryRequest), "before"},
		{`{"room":"r","limit":0}`, new(wire.HistoryRequest), "limit"},
		{`{"key":"k","name":"n","members":"a"}`, new(wire.CreateRoomRequest), "members"},
		{`{"key":"k","name":"n","members":null}`, new(wire.CreateRoomRequest), "members"},
		{`{"key":"k","name":"n","members":["a",null]}`, new(wire.CreateRoomRequest), "members"},
		{`{"key":"k","name":"n","members":["a",""]}`, new(wire.CreateRoomRequest), "members"},
		{`{"key":"k","name":"n","members":["\u0000"]}`, new(wire.CreateRoomRequest), "members"},
		{`{"packet":"p","passphrase":null}`, new(wire.GrabRequest), "passphrase"},
		{`{"room":"r","key":"k","data":null}`, new(wire.SendRequest), "data"},
		{`{"room":"r","key":"k","data":[{}]}`, new(wire.SendRequest), "data"},
		{`{"room":"r","key":"k","data":{"a":"\u0000"}}`, new(wire.SendRequest), "data"},
		{`{"room":"r","key":"k","reply_to":0}`, new(wire.SendRequest), "reply_to"},
		{`{"room":"r","user":"u","ban":null}`, new(wire.KickRequest), "ban"},
		{`{"room":"r","user":"u","ban":1}`, new(wire.KickRequest), "ban"},
		{`{"room":"r","user":"u","ban":"true"}`, new(wire.KickRequest), "ban"},
		{`{"room":"r","seq":1,"emoji":"e"}`, new(wire.ReactRequest), "on"},
		{`{"room":"r","seq":0,"text":"t"}`, new(wire.EditRequest), "seq"},
		{`{"room":"r","user":"u","seconds":-1}`, new(wire.MuteRequest), "seconds"},
		{`{"room":"r","name":null}`, new(wire.UpdateRoomRequest), "name"},
		{`{"room":"r","announcement":7}`, new(wire.UpdateRoomRequest), "announcement"},
		{`{"typing":"r"}`, new(wire.TypingSend), "typing"},
		{`{"room":"r","seq":1,"\u0000":1}`, new(wire.ReadRequest), "data"},
		{`{"room":"r","seq":1,"x":{"y":"\u0000"}}`, new(wire.ReadRequest), "data"},
		{"{\"room\":\"\xff\",\"seq\":1}", new(wire.ReadRequest), "data"},
		{`[]`, new(wire.WalletRequest), "data"},
		{`7`, new(wire.WalletRequest), "data"},
		{`"x"`, new(wire.WalletRequest), "data"},
		{`{`, new(wire.WalletRequest), "data"},
		{`{} {}`, new(wire.WalletRequest), "data"},
	} {
		err := strict.Decode([]byte(c.data), c.into)
		var bad *strict.Error
		if !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%s: got %v, want field %q", c.data, err, c.field)
		}
	}
}

// requests returns a value of each request type. It panics if Decode does not support a field, so that no request in
// production does.
func requests() []any {
	return []any{
		new(wire.CreateRoomRequest), new(wire.JoinRequest), new(wire.LeaveRequest), new(wire.FindRoomsRequest),
		new(wire.MembersRequest), new(wire.SendRequest), new(wire.HistoryRequest), new(wire.ReadRequest),
		new(wire.SendPacketRequest), new(wire.GrabRequest), new(wire.PacketRequest), new(wire.CancelPacketRequest),
		new(wire.PacketsRequest), new(wire.WalletRequest), new(wire.AdjustRequest), new(wire.GuestRequest),
		new(wire.DirectRequest), new(wire.InviteRequest), new(wire.KickRequest), new(wire.UnbanRequest), new(wire.SetRoleRequest),
		new(wire.MuteRequest), new(wire.UpdateRoomRequest), new(wire.DeleteRoomRequest), new(wire.EditRequest),
		new(wire.RecallRequest), new(wire.ReactRequest), new(wire.PresenceRequest), new(wire.TypingSend), new(wire.TypingRoom),
	}
}

// FuzzDecode decodes random data. An accepted request must satisfy the rules of Decode, and must be the same after
// encoding and decoding it again.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"room":"r","key":"k","text":"t","mode":"lucky","total":1000,"count":5,"ttl_s":60,"packet":"p","seq":1}`,
		`{"direction":"sent","from":1,"to":2,"next":"n","limit":5,"room":"r","before":3}`,
		`{"user":"u","amount":5,"key":"k","note":"\\u0000","name":"n","members":["a"]}`,
		`{"room":"\ud800","seq":9007199254740991}`, `{"packet":"p","after_rank":-0}`, `null`,
		`{"room":"r","key":"k","text":"t","data":{"a": [1]},"reply_to":3,"mentions":["u"],"users":["u"],"user":"u","ban":true,"on":false}`,
		`{"room":"r","seq":1,"emoji":"e","on":true,"seconds":5,"role":"owner","name":"","announcement":"a","typing":{"room":"r"}}`, ``, `[`, "{\"query\":\"\u2028\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, request := range requests() {
			if err := strict.Decode(data, request); err != nil {
				var bad *strict.Error
				if !errors.As(err, &bad) || bad.Field == "" || strings.ContainsAny(bad.Field, " =\n") {
					t.Fatalf("%T: %v", request, err)
				}
				continue
			}
			again := reflect.New(reflect.TypeOf(request).Elem())
			text := written(request)
			var plain any
			if err := json.Unmarshal(text, &plain); err != nil || strings.Contains(fmt.Sprint(plain), "\x00") {
				t.Fatalf("%T holds U+0000: %s", request, text)
			}
			if err := strict.Decode(text, again.Interface()); err != nil {
				t.Fatalf("%T: %v in %s", request, err, text)
			}
			if got := written(again.Interface()); string(got) != string(text) {
				t.Fatalf("%T:\n got %s\nwant %s", request, got, text)
			}
		}
	})
}

func written(v any) []byte {
	b, err := wire.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
